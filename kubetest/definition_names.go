package kubetest

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
)

// setNames returns what accepts the names of a definition that nobody else has.
func (d *definitions) setNames(p place) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		if equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
			return false
		}
		accepted, condition := d.negotiate(p, crd)
		if equality.Semantic.DeepEqual(crd.Status.AcceptedNames, accepted) &&
			apihelpers.IsCRDConditionEquivalent(&condition, apihelpers.FindCRDCondition(crd, apiextensionsv1.NamesAccepted)) {
			return false
		}
		crd.Status.AcceptedNames = accepted
		apihelpers.SetCRDCondition(crd, condition)
		apihelpers.SetCRDCondition(crd, installing(crd, condition.Status))
		d.lookAtOthers(p, crd.Spec.Group)
		return true
	}
}

// negotiate returns the names that a definition can have.
func (d *definitions) negotiate(p place, crd *apiextensionsv1.CustomResourceDefinition) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	resources, kinds := d.namesInUse(p, crd.Spec.Group)
	wanted, had := crd.Spec.Names, crd.Status.AcceptedNames
	names := had
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found",
	}
	refuse := func(reason string, err error) {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
	}
	claim := func(name *string, want string, used sets.Set[string], reason string) {
		if err := checkFresh(want, *name, used); err != nil {
			refuse(reason, err)
		} else {
			*name = want
		}
	}
	claim(&names.Plural, wanted.Plural, resources, "PluralConflict")
	claim(&names.Singular, wanted.Singular, resources, "SingularConflict")
	if err := checkShortNames(wanted.ShortNames, had.ShortNames, resources); err != nil {
		refuse("ShortNamesConflict", err)
	} else {
		names.ShortNames = wanted.ShortNames
	}
	claim(&names.Kind, wanted.Kind, kinds, "KindConflict")
	claim(&names.ListKind, wanted.ListKind, kinds, "ListKindConflict")
	names.Categories = wanted.Categories
	return names, condition
}

func checkShortNames(wanted, had []string, used sets.Set[string]) error {
	var errs []error
	for _, name := range wanted {
		if !slices.Contains(had, name) {
			errs = append(errs, checkFresh(name, "", used))
		}
	}
	return utilerrors.NewAggregate(errs)
}

func checkFresh(wanted, had string, used sets.Set[string]) error {
	if wanted == had || !used.Has(wanted) {
		return nil
	}
	return fmt.Errorf("%q is already in use", wanted)
}

// namesInUse returns the names that definitions of a group have.
func (d *definitions) namesInUse(p place, group string) (resources, kinds sets.Set[string]) {
	resources, kinds = sets.New[string](), sets.New[string]()
	snap, _ := p.table.snapshot(0, "", key{}, 0, nil)
	for _, o := range snap.objects {
		crd := o.content.(*apiextensionsv1.CustomResourceDefinition)
		if crd.Spec.Group == group {
			n := crd.Status.AcceptedNames
			resources.Insert(n.Plural, n.Singular).Insert(n.ShortNames...)
			kinds.Insert(n.Kind, n.ListKind)
		}
	}
	return resources, kinds
}

// installing returns the condition of a definition before it is established.
func installing(crd *apiextensionsv1.CustomResourceDefinition, accepted apiextensionsv1.ConditionStatus) apiextensionsv1.CustomResourceDefinitionCondition {
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted",
	}
	if old := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established); old != nil {
		condition = *old
	}
	if condition.Status != apiextensionsv1.ConditionTrue && accepted == apiextensionsv1.ConditionTrue {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "Installing", "the initial names have been accepted"
		condition.LastTransitionTime = metav1.Time{}
	}
	return condition
}

// establish says of a definition whose names are accepted that it is served.
func establish(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		return false
	}
	apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	})
	return true
}

// setApproval says of a definition in a group of Kubernetes' own whether it may be there.
func setApproval(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return false
	}
	state, message := apihelpers.GetAPIApprovalState(crd.Annotations)
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		condition.Status, condition.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		condition.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		condition.Reason = "MissingAnnotation"
	default:
		condition.Reason = "InvalidAnnotation"
	}
	old := apihelpers.FindCRDCondition(crd, condition.Type)
	if old != nil && old.Status == condition.Status && old.Reason == condition.Reason && old.Message == condition.Message {
		return false
	}
	apihelpers.SetCRDCondition(crd, condition)
	return true
}
