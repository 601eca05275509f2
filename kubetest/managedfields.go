package kubetest

import "k8s.io/apimachinery/pkg/runtime"

// trackFields returns obj with its managedFields brought up to date: the request's field
// manager owns what it changed against old, which is nil on creation.
func (rq *request) trackFields(obj, old runtime.Object) (runtime.Object, error) {
	return obj, nil
}
