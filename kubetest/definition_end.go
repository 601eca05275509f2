package kubetest

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withdraw ends the service of a definition that is gone.
func (d *definitions) withdraw(p place) {
	old := d.served[p.key.name]
	if old == nil {
		return
	}
	delete(d.served, p.key.name)
	d.server.kinds.change(func(kinds []*kind) []*kind { return old.outOf(kinds) })
	old.table.end()
	d.lookAtOthers(p, old.spec.Group)
}

// finalize deletes the objects of a definition that is going, and lets it go when there are
// none left.
func (d *definitions) finalize(p place, o *object) {
	crd := o.content.(*apiextensionsv1.CustomResourceDefinition)
	if crd.DeletionTimestamp == nil || !apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	if o = d.update(p, o, terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")); o == nil {
		return
	}
	served := d.served[p.key.name]
	if served == nil {
		d.update(p, o, released(terminating(apiextensionsv1.ConditionFalse, "NeverEstablished", "resource was never established")))
		return
	}
	for _, instance := range served.table.in("") {
		d.server.life.delete(place{served.table, instance.key()}, instance, metav1.DeletePropagationBackground)
	}
	if served.table.count() == 0 {
		d.update(p, o, released(terminating(apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances")))
	}
}

// terminating returns what sets the condition of a definition that is going.
func terminating(status apiextensionsv1.ConditionStatus, reason, message string) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		condition := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}
		if apihelpers.IsCRDConditionEquivalent(&condition, apihelpers.FindCRDCondition(crd, condition.Type)) {
			return false
		}
		apihelpers.SetCRDCondition(crd, condition)
		return true
	}
}

// released returns what makes a last change and lets a definition go.
func released(change func(*apiextensionsv1.CustomResourceDefinition) bool) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		change(crd)
		apihelpers.CRDRemoveFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
		return true
	}
}
