// Package kubeconfig compares what package kubeconfig makes of files with what client-go's clientcmd
// makes of them, which is what kubectl config view --raw -o json prints. It is a module of its own
// because nothing else may depend on client-go.
package kubeconfig
