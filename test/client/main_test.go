// Package client_test runs the client against a real API server and kubetest.
package client_test

import (
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// connect returns a client of the shared server, and a namespace of the test's own.
func connect(t *testing.T) (*kube.Client, string) {
	t.Helper()
	server := servers.Shared(t)
	return apiserver.NewClient(t, server), server.NewNamespace(t)
}

// must returns v, and ends the test when there is an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
