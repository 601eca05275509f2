package kubetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// strategy returns what is particular to objects of a version of a custom resource. It follows
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
func (v *definedVersion) strategy() *strategy {
	s := &strategy{
		coerce:          v.coerce,
		defaults:        v.setDefaults,
		admit:           v.admit,
		validate:        v.validate,
		validateUpdate:  v.validateUpdate,
		warnings:        func(_ *request, obj, old runtime.Object) []string { return finalizerWarnings(obj, old) },
		selectable:      v.selectable(),
		needsVersion:    true,
		generation:      true,
		looseFinalizers: true,
	}
	if v.version.Subresources == nil || v.version.Subresources.Status == nil {
		s.prepareUpdate = countEveryChange
	}
	return s
}

// countEveryChange makes a change of the status another generation too, as of kinds that have
// no status subresource.
func countEveryChange(_ *request, obj, old runtime.Object) {
	a, b := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	if !equality.Semantic.DeepEqual(withoutMetadata(a.Object), withoutMetadata(b.Object)) {
		a.SetGeneration(b.GetGeneration() + 1)
	}
}

func withoutMetadata(object map[string]any) map[string]any {
	rest := map[string]any{}
	for name, value := range object {
		if name != "metadata" {
			rest[name] = value
		}
	}
	return rest
}

// admit refuses new objects when the definition is going.
func (v *definedVersion) admit(rq *request, obj, old runtime.Object) error {
	if old == nil && v.terminating.Load() {
		return apierrors.NewForbidden(rq.resourceName(), accessor(obj).GetName(), errors.New("create not allowed while custom resource definition is terminating"))
	}
	return nil
}

func (v *definedVersion) validate(rq *request, obj runtime.Object) field.ErrorList {
	u := obj.(*unstructured.Unstructured)
	c, err := v.checks()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = v.validateMeta(rq.ctx, u, nil)
		errs = append(errs, inOrder(validation.ValidateCustomResource(nil, u.Object, c.object))...)
		errs = append(errs, v.validateScale(u)...)
	}
	errs = append(errs, inOrder(schemaobjectmeta.Validate(rq.ctx, nil, u.Object, c.structural, false))...)
	errs = append(errs, inOrder(listtype.ValidateListSetsAndMaps(nil, c.structural, u.Object))...)
	return c.finish(rq.warningContext(), errs, u, nil)
}

func (v *definedVersion) validateUpdate(rq *request, obj, old runtime.Object) field.ErrorList {
	u, before := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	c, err := v.checks()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	pair := common.NewCorrelatedObject(u.Object, before.Object, &model.Structural{Structural: c.structural})
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = v.validateMeta(rq.ctx, u, before)
		errs = append(errs, inOrder(validation.ValidateCustomResourceUpdate(nil, u.Object, before.Object, c.object, validation.WithRatcheting(pair)))...)
		errs = append(errs, v.validateScale(u)...)
	}
	errs = append(errs, inOrder(schemaobjectmeta.Validate(rq.ctx, nil, u.Object, c.structural, false))...)
	errs = append(errs, c.newListErrors(u, before)...)
	return c.finish(rq.warningContext(), errs, u, before, cel.WithRatcheting(pair))
}

// warningContext returns a context in which warnings of the API server's libraries become those of the
// answer: what an update leaves as wrong as it was is one.
func (rq *request) warningContext() context.Context {
	return warning.WithWarningRecorder(rq.ctx, warningRecorder{rq})
}

type warningRecorder struct{ rq *request }

// AddWarning implements warning.Recorder.
func (r warningRecorder) AddWarning(_, text string) { r.rq.warn(text) }

// inOrder sorts errors by their fields. The validation goes through properties in any order, so
// that a real server may have any. Those of one field stay in the order of its rules, but for
// errors that name no field.
func inOrder(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		if order := strings.Compare(a.Field, b.Field); order != 0 || a.Field != nowhere {
			return order
		}
		return strings.Compare(a.Error(), b.Error())
	})
	return errs
}

// nowhere is how the path of an error is written that names no field.
var nowhere = (*field.Path)(nil).String()

// newListErrors returns what is wrong with sets and maps, if nothing was before.
func (c *checks) newListErrors(u, before *unstructured.Unstructured) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, c.structural, before.Object)) > 0 {
		return nil
	}
	return inOrder(listtype.ValidateListSetsAndMaps(nil, c.structural, u.Object))
}

// finish adds what the rules of the schema find, unless errs keep them from being evaluated.
func (c *checks) finish(ctx context.Context, errs field.ErrorList, u, before *unstructured.Unstructured, options ...cel.Option) field.ErrorList {
	if c.rules == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	var old map[string]any
	if before != nil {
		old = before.Object
	}
	broken, _ := c.rules.Validate(ctx, nil, c.structural, u.Object, oldObject(old), celconfig.RuntimeCELCostBudget, options...)
	return append(errs, inOrder(broken)...)
}

// oldObject returns an old object as rules want it: none is nil without a type.
func oldObject(old map[string]any) any {
	if old == nil {
		return nil
	}
	return old
}

func (v *definedVersion) validateType(u *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	if u.GetKind() != v.names.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), u.GetKind(), "must be "+v.names.Kind))
	}
	if want := v.spec.Group + "/" + v.version.Name; u.GetAPIVersion() != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), u.GetAPIVersion(), "must be "+want))
	}
	return errs
}

// validateMeta validates the metadata; before is nil on creation.
func (v *definedVersion) validateMeta(ctx context.Context, u, before *unstructured.Unstructured) field.ErrorList {
	meta, err := metadataOf(u)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), u.Object["metadata"], err.Error())}
	}
	namespaced := v.spec.Scope == apiextensionsv1.NamespaceScoped
	path := field.NewPath("metadata")
	if before == nil {
		return metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, meta, nil, namespaced, metavalidation.NameIsDNSSubdomain, path, true)
	}
	old, err := metadataOf(before)
	if err != nil {
		return field.ErrorList{field.Invalid(path, before.Object["metadata"], err.Error())}
	}
	return metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, meta, old, namespaced, nil, path, true)
}

func metadataOf(u *unstructured.Unstructured) (*metav1.ObjectMeta, error) {
	meta := &metav1.ObjectMeta{}
	switch m := u.Object["metadata"].(type) {
	case nil:
		return meta, nil
	case map[string]any:
		return meta, runtime.DefaultUnstructuredConverter.FromUnstructured(m, meta)
	default:
		return nil, fmt.Errorf("expected map[string]interface{}, got %T", m)
	}
}

// validateScale validates what the scale subresource shows.
func (v *definedVersion) validateScale(u *unstructured.Unstructured) field.ErrorList {
	scale := v.scale()
	if scale == nil {
		return nil
	}
	return append(checkReplicas(u, scale.SpecReplicasPath), v.validateScaleStatus(u)...)
}

func (v *definedVersion) validateScaleStatus(u *unstructured.Unstructured) field.ErrorList {
	scale := v.scale()
	if scale == nil {
		return nil
	}
	errs := checkReplicas(u, scale.StatusReplicasPath)
	if p := scale.LabelSelectorPath; p != nil {
		if selector, _, err := unstructured.NestedString(u.Object, splitPath(*p)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*p), selector, err.Error()))
		}
	}
	return errs
}

func (v *definedVersion) scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.version.Subresources == nil {
		return nil
	}
	return v.version.Subresources.Scale
}

func checkReplicas(u *unstructured.Unstructured, path string) field.ErrorList {
	replicas, _, err := unstructured.NestedInt64(u.Object, splitPath(path)...)
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case replicas < 0:
		problem = "should be a non-negative integer"
	case replicas > math.MaxInt32:
		problem = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path), replicas, problem)}
}

// splitPath splits a path such as .spec.replicas.
func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// statusSubresource is the status subresource of a custom resource: an update of it changes
// the status and nothing else.
func (v *definedVersion) statusSubresource() *subresource {
	return &subresource{
		name:     "status",
		handlers: map[string]handler{verbGet: get, verbUpdate: update, verbPatch: patch},
		prepare:  takeStatusOnly,
		validate: v.validateStatus,
	}
}

func takeStatusOnly(_ *request, obj, old runtime.Object) {
	u := obj.(*unstructured.Unstructured)
	status, has := u.Object["status"]
	managed := u.GetManagedFields()
	*u = *old.DeepCopyObject().(*unstructured.Unstructured)
	u.SetManagedFields(managed)
	delete(u.Object, "status")
	if has {
		u.Object["status"] = status
	}
}

func (v *definedVersion) validateStatus(rq *request, obj, old runtime.Object) field.ErrorList {
	u, before := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	c, err := v.checks()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	pair := common.NewCorrelatedObject(u.Object, before.Object, &model.Structural{Structural: c.structural})
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = v.validateMeta(rq.ctx, u, before)
		if status, ok := u.Object["status"]; ok {
			var options []validation.ValidationOption
			if c.structural != nil {
				options = append(options, validation.WithRatcheting(pair.Key("status")))
			}
			errs = append(errs, inOrder(validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, before.Object["status"], c.status, options...))...)
		}
		errs = append(errs, v.validateScaleStatus(u)...)
	}
	errs = append(errs, c.newListErrors(u, before)...)
	return c.finish(rq.warningContext(), errs, u, before, cel.WithRatcheting(pair))
}

// finalizerWarnings says what is not good about the names of new finalizers.
func finalizerWarnings(obj, old runtime.Object) []string {
	added := sets.New(accessor(obj).GetFinalizers()...)
	if old != nil {
		added.Delete(accessor(old).GetFinalizers()...)
	}
	var warnings []string
	for _, f := range sets.List(added) {
		for _, problem := range utilvalidation.IsQualifiedName(f) {
			warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", f, problem))
		}
		if strings.Contains(f, "/") || isGarbageFinalizer(f) || f == string(corev1.FinalizerKubernetes) {
			continue
		}
		advice := "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
		if strings.Contains(f, ".") {
			advice = "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"
		}
		warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", f, advice))
	}
	return warnings
}
