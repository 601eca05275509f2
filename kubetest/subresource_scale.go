package kubetest

import (
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/go-kube/kube/resource"
)

var scaleGVK = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scaling is how objects of a kind are seen as Scales.
type scaling struct {
	// read returns the replicas that are wanted and there are, and the selector of the latter.
	read func(obj runtime.Object) (want, have int32, selector string, err error)
	// write sets the replicas that are wanted.
	write func(obj runtime.Object, replicas int32) error
	// paths are where the wanted replicas stand, by API version.
	paths managedfields.ResourcePathMappings
}

// complete makes sub the scale subresource of k.
func (s *scaling) complete(k *kind, sub *subresource) {
	sub.handlers = map[string]handler{verbGet: s.get, verbUpdate: s.update, verbPatch: s.patch}
	sub.prepare = func(rq *request, obj, old runtime.Object) {
		if k.strategy.prepareUpdate != nil {
			k.strategy.prepareUpdate(rq, obj, old)
		}
		if k.strategy.generation && !samePartsButStatus(obj, old) {
			accessor(obj).SetGeneration(accessor(old).GetGeneration() + 1)
		}
	}
	sub.validate = k.strategy.validateUpdate
}

// scale returns the Scale of an object.
func (s *scaling) scale(obj runtime.Object) (*autoscalingv1.Scale, error) {
	want, have, selector, err := s.read(obj)
	if err != nil {
		return nil, err
	}
	m := accessor(obj)
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(),
			CreationTimestamp: m.GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: want},
		Status: autoscalingv1.ScaleStatus{Replicas: have, Selector: selector},
	}, nil
}

func (s *scaling) get(w http.ResponseWriter, rq *request) error {
	obj := rq.kind.table.get(key{rq.objectNamespace(), rq.name})
	if obj == nil {
		return rq.notFound(rq.name)
	}
	return s.respond(w, rq, rq.kind.convert(obj))
}

func (s *scaling) respond(w http.ResponseWriter, rq *request, obj runtime.Object) error {
	scale, err := s.scale(obj)
	if err != nil {
		return err
	}
	return rq.respondBody(w, http.StatusOK, scale, scaleGVK)
}

func (s *scaling) update(w http.ResponseWriter, rq *request) error {
	if err := rq.updateOptions(); err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{}
	if _, err := rq.decodeBody(scale, scaleGVK); err != nil {
		return err
	}
	if err := rq.setNamespace(scale); err != nil {
		return err
	}
	if err := rq.checkName(scale); err != nil {
		return err
	}
	target, err := rq.scaleTarget()
	if err != nil {
		return err
	}
	return s.change(w, rq, scale.UID, func(live *autoscalingv1.Scale) (runtime.Object, error) {
		return target.clean(target.manager.UpdateNoErrors(live, scale.DeepCopy(), rq.fieldManager)), nil
	})
}

func (s *scaling) patch(w http.ResponseWriter, rq *request) error {
	p, err := rq.readPatch()
	if err != nil {
		return err
	}
	target, err := rq.scaleTarget()
	if err != nil {
		return err
	}
	return s.change(w, rq, "", func(live *autoscalingv1.Scale) (runtime.Object, error) { return p.change(target, live) })
}

// scaleTarget is what a Scale is patched with.
func (rq *request) scaleTarget() (*patchTarget, error) {
	k := &kind{
		Descriptor: resource.Dynamic(resource.Info{Group: scaleGVK.Group, Version: scaleGVK.Version, Kind: scaleGVK.Kind}, rq.kind.Scope).Descriptor(),
		new:        func() runtime.Object { return &autoscalingv1.Scale{} },
		strategy:   &strategy{},
	}
	c := &builtinObjects{server: rq.server, kind: k}
	manager, err := managedfields.NewDefaultFieldManager(c, c, c, c, scaleGVK, scaleGVK.GroupVersion(), rq.subresource, nil)
	if err != nil {
		return nil, fmt.Errorf("manage the fields of Scale: %w", err)
	}
	return &patchTarget{gvk: scaleGVK, empty: k.new, defaults: k.strategy.setDefaults, manager: manager}, nil
}

// change stores what f makes of the Scale of the object, and answers with it. An object with another
// uid is not changed; an empty one is any.
func (s *scaling) change(w http.ResponseWriter, rq *request, uid types.UID, f func(*autoscalingv1.Scale) (runtime.Object, error)) error {
	o, _, err := rq.modify(modification{uid: uid, change: func(live runtime.Object) (runtime.Object, error) { return s.changed(rq, live, f) }})
	if err != nil {
		return err
	}
	return s.respond(w, rq, rq.kind.convert(o))
}

// changed returns live with the replicas that f makes of its Scale. Managed fields are those of
// the Scale on the way.
func (s *scaling) changed(rq *request, live runtime.Object, f func(*autoscalingv1.Scale) (runtime.Object, error)) (runtime.Object, error) {
	before, err := s.scale(live)
	if err != nil {
		return nil, err
	}
	fields := managedfields.NewScaleHandler(accessor(live).GetManagedFields(), rq.kind.groupVersion(), s.paths)
	if before.ManagedFields, err = fields.ToSubresource(); err != nil {
		return nil, err
	}
	obj, err := f(before)
	if err != nil {
		return nil, err
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected input object type to be Scale, but %T", obj))
	}
	if err := rq.checkScale(scale, before); err != nil {
		return nil, err
	}
	changed := live.DeepCopyObject()
	if err := s.write(changed, scale.Spec.Replicas); err != nil {
		return nil, err
	}
	m := accessor(changed)
	m.SetResourceVersion(scale.ResourceVersion)
	entries, err := fields.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, err
	}
	m.SetManagedFields(entries)
	return changed, nil
}

func (rq *request) checkScale(scale, before *autoscalingv1.Scale) error {
	errs := metavalidation.ValidateManagedFields(scale.ManagedFields, field.NewPath("metadata", "managedFields"))
	errs = append(errs, validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))...)
	if len(errs) > 0 {
		return apierrors.NewInvalid(scaleGVK.GroupKind(), rq.name, errs)
	}
	if scale.UID != "" && scale.UID != before.UID {
		gr := schema.GroupResource{Group: rq.group, Resource: rq.resource + "/scale"}
		return apierrors.NewConflict(gr, rq.name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, before.UID))
	}
	return nil
}

// builtinScaling is how the workloads of Kubernetes are seen as Scales.
func builtinScaling() *scaling {
	return &scaling{
		read: readReplicas,
		write: func(obj runtime.Object, replicas int32) error {
			p := replicasOf(obj)
			if p == nil {
				return fmt.Errorf("a %T has no scale", obj)
			}
			*p = &replicas
			return nil
		},
		paths: managedfields.ResourcePathMappings{
			"apps/v1": fieldpath.MakePathOrDie("spec", "replicas"),
			"v1":      fieldpath.MakePathOrDie("spec", "replicas"),
		},
	}
}

func replicasOf(obj runtime.Object) **int32 {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *corev1.ReplicationController:
		return &o.Spec.Replicas
	}
	return nil
}

func readReplicas(obj runtime.Object) (want, have int32, selector string, err error) {
	var s *metav1.LabelSelector
	switch o := obj.(type) {
	case *appsv1.Deployment:
		s, have = o.Spec.Selector, o.Status.Replicas
	case *appsv1.ReplicaSet:
		s, have = o.Spec.Selector, o.Status.Replicas
	case *appsv1.StatefulSet:
		s, have = o.Spec.Selector, o.Status.Replicas
	case *corev1.ReplicationController:
		want = or(o.Spec.Replicas, 0)
		return want, o.Status.Replicas, labels.Set(o.Spec.Selector).AsSelector().String(), nil
	default:
		return 0, 0, "", fmt.Errorf("a %T has no scale", obj)
	}
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return 0, 0, "", err
	}
	return or(*replicasOf(obj), 0), have, parsed.String(), nil
}
