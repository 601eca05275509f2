package kubetest

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// definitionHooks are the hooks of custom resource definitions. They follow
// k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition.
func definitionHooks() hooks {
	return hooks{apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"): func(s *strategy) {
		s.validName = nil // the names are part of what validate looks at
		s.looseFinalizers = true
		s.defaults = on(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition)
		s.prepareCreate = func(_ *request, obj runtime.Object) { storeVersion(obj.(*apiextensionsv1.CustomResourceDefinition)) }
		s.prepareUpdate = func(_ *request, obj, _ runtime.Object) { storeVersion(obj.(*apiextensionsv1.CustomResourceDefinition)) }
		s.validate = func(rq *request, obj runtime.Object) field.ErrorList {
			return withInternal(obj, func(crd *apiextensions.CustomResourceDefinition) field.ErrorList {
				return validation.ValidateCustomResourceDefinition(rq.ctx, crd)
			})
		}
		s.validateUpdate = func(rq *request, obj, old runtime.Object) field.ErrorList {
			return withInternals(obj, old, func(crd, before *apiextensions.CustomResourceDefinition) field.ErrorList {
				return validation.ValidateCustomResourceDefinitionUpdate(rq.ctx, crd, before)
			})
		}
		s.validateStatus = func(rq *request, obj, old runtime.Object) field.ErrorList {
			return withInternals(obj, old, func(crd, before *apiextensions.CustomResourceDefinition) field.ErrorList {
				return validation.ValidateUpdateCustomResourceDefinitionStatus(rq.ctx, crd, before)
			})
		}
		s.warnings = definitionWarnings
		s.beginDelete = beginDefinitionDelete
	}}
}

// storeVersion adds the version of storage to those that objects may be stored in.
func storeVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if !v.Storage {
			continue
		}
		if !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(slices.Clone(crd.Status.StoredVersions), v.Name)
		}
		return
	}
}

// withInternal validates the internal form of a definition.
func withInternal(obj runtime.Object, f func(crd *apiextensions.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	internal, err := internalDefinition(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return f(internal)
}

func withInternals(obj, old runtime.Object, f func(crd, before *apiextensions.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	return withInternal(obj, func(crd *apiextensions.CustomResourceDefinition) field.ErrorList {
		return withInternal(old, func(before *apiextensions.CustomResourceDefinition) field.ErrorList { return f(crd, before) })
	})
}

func internalDefinition(obj runtime.Object) (*apiextensions.CustomResourceDefinition, error) {
	internal := &apiextensions.CustomResourceDefinition{}
	crd := obj.(*apiextensionsv1.CustomResourceDefinition).DeepCopy() // a conversion shares with, and changes, what it converts
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil)
	return internal, err
}

// definitionWarnings are about formats that are not known, and sets that apply cannot handle.
func definitionWarnings(_ *request, obj, old runtime.Object) []string {
	warnings := append(schemaWarnings(obj), conversionWarnings(obj)...)
	if old == nil {
		return warnings
	}
	known := append(schemaWarnings(old), conversionWarnings(old)...)
	return slices.DeleteFunc(warnings, func(w string) bool { return slices.Contains(known, w) })
}

func schemaWarnings(obj runtime.Object) []string {
	crd, err := internalDefinition(obj)
	if err != nil {
		return nil
	}
	var formats []string
	sets := sets.New[string]()
	look := func(s *apiextensions.JSONSchemaProps) bool {
		formats = append(formats, unknownFormats(s)...)
		if s.XListType != nil && *s.XListType == "set" && s.Items != nil && s.Items.Schema != nil {
			if t := s.Items.Schema.Type; t == "object" || t == "array" {
				sets.Insert(fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t))
			}
		}
		return false
	}
	if crd.Spec.Validation != nil {
		validation.SchemaHas(crd.Spec.Validation.OpenAPIV3Schema, look)
	}
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil {
			validation.SchemaHas(v.Schema.OpenAPIV3Schema, look)
		}
	}
	return append(formats, sortedSet(sets)...)
}

func sortedSet(s sets.Set[string]) []string { return sets.List(s) }

func unknownFormats(s *apiextensions.JSONSchemaProps) []string {
	if s.Format == "" {
		return nil
	}
	var warnings []string
	one := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
	for _, f := range apiservervalidation.GetUnrecognizedFormats(one, environment.DefaultCompatibilityVersion()) {
		warnings = append(warnings, fmt.Sprintf("unrecognized format %q", f))
	}
	return warnings
}

// beginDefinitionDelete marks a definition as to be deleted, for its objects to be deleted
// before.
func beginDefinitionDelete(rq *request, live runtime.Object, options *metav1.DeleteOptions) (runtime.Object, error) {
	crd := live.(*apiextensionsv1.CustomResourceDefinition)
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != crd.UID {
			return nil, apierrors.NewConflict(rq.resourceName(), crd.Name,
				fmt.Errorf("precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, crd.UID))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != crd.ResourceVersion {
			return nil, apierrors.NewConflict(rq.resourceName(), crd.Name,
				fmt.Errorf("precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *p.ResourceVersion, crd.ResourceVersion))
		}
	}
	crd = crd.DeepCopy()
	now := metav1.NewTime(time.Now())
	crd.DeletionTimestamp = &now
	if !apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer) {
		crd.Finalizers = append(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	return crd, nil
}
