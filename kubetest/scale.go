package kubetest

import (
	"fmt"
	"math"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/go-kube/kube/resource"
)

// scaleAccess finds in the objects of a kind what the scale subresource shows.
type scaleAccess struct {
	// replicas returns how many are wanted. It reports false if the object does not say.
	replicas func(obj runtime.Object) (int32, bool, error)
	// setReplicas writes how many are wanted.
	setReplicas func(obj runtime.Object, replicas int32) error
	// status returns how many there are, and the selector of their pods.
	status func(obj runtime.Object) (autoscalingv1.ScaleStatus, error)
	// path is where the object says how many are wanted.
	path string
	// paths is the same for each version, as field managers want it.
	paths managedfields.ResourcePathMappings
	// custom says that it is the scale of custom resources.
	custom bool
}

// scaleKind is the kind of the bodies of scale subresources.
var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// noReplicas stands for replicas that an object does not name.
const noReplicas = math.MinInt32

func scaleSubresource(s *scaleAccess) *subresource {
	return &subresource{
		name:     "scale",
		body:     &resource.Info{Group: scaleKind.Group, Version: scaleKind.Version, Kind: scaleKind.Kind},
		newBody:  func() runtime.Object { return &autoscalingv1.Scale{} },
		handlers: map[string]handler{verbGet: s.get, verbUpdate: s.update, verbPatch: s.patch},
	}
}

// of returns the scale of an object. It reports false if the object does not say how many it wants.
func (s *scaleAccess) of(obj runtime.Object) (scale *autoscalingv1.Scale, found bool, err error) {
	m := accessor(obj)
	scale = &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
	}}
	if scale.Spec.Replicas, found, err = s.replicas(obj); err != nil {
		return nil, false, err
	}
	if scale.Status, err = s.status(obj); err != nil {
		return nil, false, err
	}
	return scale, found, nil
}

// get answers GET.
func (s *scaleAccess) get(w http.ResponseWriter, rq *request) error {
	o, err := rq.find()
	if err != nil {
		return err
	}
	scale, found, err := s.of(rq.kind.convert(o))
	if err != nil {
		return err
	}
	if !found {
		return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", s.path))
	}
	return rq.respondBody(w, http.StatusOK, scale, scaleKind)
}

// update answers PUT.
func (s *scaleAccess) update(w http.ResponseWriter, rq *request) error {
	if err := rq.updateOptions(); err != nil {
		return err
	}
	body, err := rq.decodeBody(&autoscalingv1.Scale{}, scaleKind)
	if err != nil {
		return err
	}
	wanted := body.(*autoscalingv1.Scale)
	if err := rq.setNamespace(wanted); err != nil {
		return err
	}
	if err := rq.checkName(wanted); err != nil {
		return err
	}
	manager, err := rq.server.fieldManager(rq.kind, "scale")
	if err != nil {
		return err
	}
	return s.modify(w, rq, modification{uid: wanted.UID, change: func(live runtime.Object) (runtime.Object, error) {
		return s.change(rq, live, func(old runtime.Object) (runtime.Object, error) {
			return updateFields(manager, old, wanted.DeepCopy(), rq.fieldManager), nil
		})
	}})
}

// patch answers PATCH.
func (s *scaleAccess) patch(w http.ResponseWriter, rq *request) error {
	p, err := rq.readPatch()
	if err != nil {
		return err
	}
	manager, err := rq.server.fieldManager(rq.kind, "scale")
	if err != nil {
		return err
	}
	target := &patchTarget{
		gvk: scaleKind, empty: func() runtime.Object { return &autoscalingv1.Scale{} }, defaults: func(runtime.Object) {}, manager: manager,
	}
	return s.modify(w, rq, modification{change: func(live runtime.Object) (runtime.Object, error) {
		return s.change(rq, live, func(old runtime.Object) (runtime.Object, error) { return p.change(target, old) })
	}})
}

// modify changes the object as a write to itself does, and answers with its scale.
func (s *scaleAccess) modify(w http.ResponseWriter, rq *request, mod modification) error {
	rq.subresource = "" // what is left to do is an update of the object
	o, _, err := rq.modify(mod)
	if err != nil {
		return err
	}
	scale, _, err := s.of(rq.kind.convert(o))
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return rq.respondBody(w, http.StatusOK, scale, scaleKind)
}

// change returns live with the scale that f makes of the one it has.
func (s *scaleAccess) change(rq *request, live runtime.Object, f func(old runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	obj := live.DeepCopyObject()
	m := accessor(obj)
	fields := managedfields.NewScaleHandler(m.GetManagedFields(), rq.kind.groupVersion(), s.paths)
	old, found, err := s.of(obj)
	if err != nil {
		return nil, err
	}
	if !found {
		old.Spec.Replicas = noReplicas
	}
	if old.ManagedFields, err = fields.ToSubresource(); err != nil {
		return nil, err
	}
	changed, err := f(old)
	if err != nil {
		return nil, err
	}
	scale := changed.(*autoscalingv1.Scale)
	if err := s.check(rq, scale, m); err != nil {
		return nil, err
	}
	if err := s.setReplicas(obj, scale.Spec.Replicas); err != nil {
		return nil, err
	}
	m.SetResourceVersion(s.versionOf(scale, m))
	managed, err := fields.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, err
	}
	m.SetManagedFields(managed)
	return obj, nil
}

// versionOf returns the resource version that the object has to have.
func (s *scaleAccess) versionOf(scale *autoscalingv1.Scale, m metav1.Object) string {
	if scale.ResourceVersion == "" && s.custom {
		return m.GetResourceVersion() // custom resources cannot be updated without one
	}
	return scale.ResourceVersion
}

// check refuses a scale that cannot be that of the object with metadata m.
func (s *scaleAccess) check(rq *request, scale *autoscalingv1.Scale, m metav1.Object) error {
	if scale.Spec.Replicas == noReplicas {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", s.path))
	}
	if s.custom {
		return nil
	}
	if errs := validateScale(scale); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: "Scale"}, m.GetName(), errs)
	}
	if scale.UID != "" && scale.UID != m.GetUID() {
		gr := schema.GroupResource{Group: rq.kind.Group, Resource: rq.kind.Plural + "/scale"}
		return apierrors.NewConflict(gr, m.GetName(), fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, m.GetUID()))
	}
	return nil
}

// validateScale is what built-in kinds want of a scale.
func validateScale(scale *autoscalingv1.Scale) field.ErrorList {
	errs := metavalidation.ValidateManagedFields(scale.ManagedFields, field.NewPath("metadata", "managedFields"))
	return append(errs, validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))...)
}
