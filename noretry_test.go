package kube_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
)

func TestWithoutRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		cfg := srv.Config()
		cfg.DisableRetry = false
		client, err := kube.NewClient(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		busy := srv.Expect("GET /api/v1/nodes/n").Always().Status(http.StatusServiceUnavailable, "ServiceUnavailable", "busy", 0)

		_, err = client.All(core.Nodes).Get(kube.WithoutRetry(t.Context()), "n")
		if status, ok := errors.AsType[*apierrors.StatusError](err); !ok || status.Status().Code != 503 {
			t.Errorf("got %v, want the answer of the server", err)
		}
		if n := busy.Served(); n != 1 {
			t.Errorf("got %d requests, want 1", n)
		}
		if _, err = client.All(core.Nodes).Get(t.Context(), "n"); err == nil || busy.Served() < 3 {
			t.Errorf("got %v after %d requests, want several with retries", err, busy.Served()-1)
		}
	})
}
