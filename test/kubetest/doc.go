// Package kubetest has tests that ask the server of package kubetest and a real API server the
// same, and compare their answers.
package kubetest
