package kubetest

func openAPIEndpoint(path string) handler { return nil }
