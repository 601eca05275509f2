package kubetest

// customPrinter returns the columns that the definition of a custom resource names.
func (k *kind) customPrinter() *printer { return namePrinter() }
