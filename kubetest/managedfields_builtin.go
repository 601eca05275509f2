package kubetest

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/go-kube/kube/kubetest/internal/fieldtypes"
)

// resets returns, for each version of a built-in kind, which fields a write cannot change.
func (s *Server) resets(k *kind, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	filter := resetFields(k.groupKind(), subresource)
	if filter == nil {
		return nil
	}
	resets := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, other := range s.kinds.catalog().kinds {
		if other.groupKind() == k.groupKind() {
			resets[fieldpath.APIVersion(other.groupVersion().String())] = filter
		}
	}
	return resets
}

// builtinObjects is what a field manager has to know of a built-in kind: it converts objects
// between versions, between Go types and unstructured, and to the typed values of
// structured-merge-diff.
type builtinObjects struct {
	server *Server // nil if there is no other kind to know
	kind   *kind   // of objects that do not name their kind
}

// find returns a kind that is served.
func (c *builtinObjects) find(gvk schema.GroupVersionKind) (*kind, error) {
	if gvk == c.kind.GroupVersionKind() {
		return c.kind, nil
	}
	if c.server != nil {
		if k := c.server.kinds.catalog().byKind[gvk]; k != nil {
			return k, nil
		}
	}
	return nil, runtime.NewNotRegisteredErrForKind("kubetest", gvk)
}

// ConvertToVersion implements runtime.ObjectConvertor. The result names its kind, and shares
// with in what is the same.
func (c *builtinObjects) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk = c.kind.GroupVersionKind()
	}
	from, err := c.find(gvk)
	if err != nil {
		return nil, err
	}
	want, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{gvk})
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("kubetest", reflect.TypeOf(in), target)
	}
	to, err := c.find(want)
	if err != nil {
		return nil, err
	}
	obj, err := structured(in, from)
	if err != nil {
		return nil, err
	}
	if to != from {
		obj = to.loaded(from.stored(obj.DeepCopyObject()))
	} else if obj == in {
		obj = shallowCopy(in)
	}
	setTypeMeta(obj, want)
	return obj, nil
}

// structured returns in, an object of k, as k's Go type.
func structured(in runtime.Object, k *kind) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in, nil
	}
	obj := k.new()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %v: %w", k.GroupVersionKind(), err)
	}
	return obj, nil
}

// loaded returns stored, an object in the version of storage, in the version of k.
func (k *kind) loaded(stored runtime.Object) runtime.Object {
	if k.load == nil {
		return stored
	}
	return k.load(stored)
}

func shallowCopy(obj runtime.Object) runtime.Object {
	v := reflect.New(reflect.TypeOf(obj).Elem())
	v.Elem().Set(reflect.ValueOf(obj).Elem())
	return v.Interface().(runtime.Object)
}

// Convert implements runtime.ObjectConvertor. A field manager does not use it.
func (c *builtinObjects) Convert(in, out, context any) error {
	return fmt.Errorf("kubetest: converting %T to %T is not supported", in, out)
}

// ConvertFieldLabel implements runtime.ObjectConvertor. A field manager does not use it.
func (c *builtinObjects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return c.kind.fieldLabel(label, value)
}

// Default implements runtime.ObjectDefaulter.
func (c *builtinObjects) Default(obj runtime.Object) { c.kind.strategy.setDefaults(obj) }

// New implements runtime.ObjectCreater.
func (c *builtinObjects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	k, err := c.find(gvk)
	if err != nil {
		return nil, err
	}
	return k.new(), nil
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *builtinObjects) ObjectToTyped(obj runtime.Object, options ...smd.ValidationOptions) (*smd.TypedValue, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	t, ok := fieldtypes.Builtin().Of(gvk)
	if !ok {
		return nil, fmt.Errorf("kubetest: there is no type of %v", gvk)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.FromUnstructured(u.Object, options...)
	}
	return t.FromStructured(obj, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c *builtinObjects) TypedToObject(value *smd.TypedValue) (runtime.Object, error) {
	return untyped(value)
}

func untyped(value *smd.TypedValue) (runtime.Object, error) {
	object, ok := value.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", value.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: object}, nil
}
