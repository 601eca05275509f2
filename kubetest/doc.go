// Package kubetest is a Kubernetes API server in memory, for tests.
package kubetest
