package apiserver

import (
	"testing"

	"github.com/go-kube/kube"
)

// NewClient returns a client that has all rights on a server, and is closed when the test ends. change
// may be given to change its configuration.
func NewClient(t testing.TB, server interface{ Kubeconfig() string }, change ...func(*kube.Config)) *kube.Client {
	t.Helper()
	cfg, err := kube.ConfigFromKubeconfig(server.Kubeconfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(cfg)
	}
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// NoWarnings has the test fail at every warning of the server, as a change of [NewClient].
func NoWarnings(t testing.TB) func(*kube.Config) {
	return func(cfg *kube.Config) {
		cfg.OnWarning = func(w kube.Warning) { t.Errorf("the server warns: %v", w.Text) }
	}
}
