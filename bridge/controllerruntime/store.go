package controllerruntime

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// store is a store of kube without the type of its objects.
type store struct {
	gvk       schema.GroupVersionKind
	goType    reflect.Type
	namespace string // empty spans all
	clustered bool
	partial   bool // without spec and status

	waitReady func(ctx context.Context) error
	waitFor   func(ctx context.Context, version string) error
	version   func() string
	get       func(key client.ObjectKey) (*resource.Raw, bool)
	all       iter.Seq[*resource.Raw]
	object    func(raw *resource.Raw) (client.Object, error)
	fields    map[string]func(value string) iter.Seq[*resource.Raw]
}

func newStore[K any](objects *reflector.Reflector[K], fields map[string]*reflector.Index[K]) *store {
	if _, ok := any(new(K)).(client.Object); !ok {
		panic(fmt.Sprintf("controllerruntime: %T is no client.Object", new(K)))
	}
	kept, endpoint := objects.Store(), objects.Endpoint()
	d := endpoint.Descriptor()
	s := &store{
		gvk: d.GroupVersionKind(), goType: reflect.TypeFor[K](),
		namespace: endpoint.Namespace(), clustered: d.Scope == resource.ClusterScoped, partial: d.MetadataOnly,
		waitReady: kept.WaitReady,
		waitFor:   kept.WaitFor,
		version:   func() string { return kept.Stats().ResourceVersion },
		get: func(key client.ObjectKey) (*resource.Raw, bool) {
			lazy, ok := kept.Lazy(resource.Ref[K]{Namespace: key.Namespace, Name: key.Name})
			return lazy.Raw, ok
		},
		all: rawOf(kept.All()),
		object: func(raw *resource.Raw) (client.Object, error) {
			obj, err := resource.AsLazy[K](raw).Decode()
			if err != nil {
				return nil, err
			}
			return any(obj).(client.Object), nil
		},
		fields: map[string]func(string) iter.Seq[*resource.Raw]{},
	}
	for name, index := range fields {
		s.fields[name] = func(value string) iter.Seq[*resource.Raw] { return rawOf(index.Lookup(kept, value)) }
	}
	return s
}

// rawOf yields the untyped inside of objects.
func rawOf[K any](objects iter.Seq[resource.Lazy[K]]) iter.Seq[*resource.Raw] {
	return func(yield func(*resource.Raw) bool) {
		for lazy := range objects {
			if !yield(lazy.Raw) {
				return
			}
		}
	}
}

// spans reports whether the store has everything in namespace.
func (s *store) spans(namespace string) bool {
	return s.clustered || s.namespace == "" || s.namespace == namespace
}

// has reports whether the store can make objects of a form.
func (s *store) has(f form) bool { return f != asUnstructured || !s.partial }

// wait waits for the first snapshot, and for a version if one is asked for.
func (s *store) wait(ctx context.Context, version string) error {
	if err := s.waitReady(ctx); err != nil {
		return err
	}
	if version == "" || version == "0" {
		return nil
	}
	return s.waitFor(ctx, version)
}

// selected yields what a list asks for.
func (s *store) selected(o *client.ListOptions) (iter.Seq[*resource.Raw], error) {
	objects := s.all
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		var err error
		if objects, err = s.byFields(o.FieldSelector.Requirements()); err != nil {
			return nil, err
		}
	}
	return func(yield func(*resource.Raw) bool) {
		for raw := range objects {
			if o.Namespace != "" && !s.clustered && raw.Namespace() != o.Namespace {
				continue
			}
			if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(raw.Labels())) {
				continue
			}
			if !yield(raw) {
				return
			}
		}
	}, nil
}

// byFields yields the objects that meet all requirements.
func (s *store) byFields(requirements fields.Requirements) (iter.Seq[*resource.Raw], error) {
	var met []*resource.Raw
	for i, q := range requirements {
		if q.Operator != selection.Equals && q.Operator != selection.DoubleEquals {
			return nil, fmt.Errorf("field selector %s%s%s: a cache finds fields by equality alone", q.Field, q.Operator, q.Value)
		}
		lookup, ok := s.fields[q.Field]
		if !ok {
			return nil, fmt.Errorf("field selector %s=%s of %s: there is no index of that name; give one to Add", q.Field, q.Value, s.gvk)
		}
		also := slices.Collect(lookup(q.Value))
		if i > 0 {
			also = slices.DeleteFunc(also, func(raw *resource.Raw) bool { return !slices.Contains(met, raw) })
		}
		met = also
	}
	return slices.Values(met), nil
}

// decode makes an object of the form that is wanted.
func (s *store) decode(raw *resource.Raw, f form) (client.Object, error) {
	obj, err := s.object(raw)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", s.gvk.Kind, raw.Namespace(), raw.Name(), err)
	}
	switch f {
	case asUnstructured:
		obj, err = toUnstructured(obj)
	case metadataOnly:
		obj = toMetadata(obj)
	}
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(s.gvk)
	return obj, nil
}

func toUnstructured(obj client.Object) (client.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("%T %s/%s as unstructured: %w", obj, obj.GetNamespace(), obj.GetName(), err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// toMetadata returns the metadata of an object that nobody else has.
func toMetadata(obj client.Object) client.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: obj.GetName(), GenerateName: obj.GetGenerateName(), Namespace: obj.GetNamespace(),
		UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(),
		CreationTimestamp: obj.GetCreationTimestamp(), DeletionTimestamp: obj.GetDeletionTimestamp(),
		DeletionGracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
		Labels:                     obj.GetLabels(), Annotations: obj.GetAnnotations(),
		OwnerReferences: obj.GetOwnerReferences(), Finalizers: obj.GetFinalizers(), ManagedFields: obj.GetManagedFields(),
	}}
}
