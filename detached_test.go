package kube_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

// What has no server says so, in whichever namespace it is asked.
func TestDetached(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	endpoint := kube.Detached(core.Pods, logger)
	if endpoint.Client().Logger() != logger || kube.Detached(core.Pods, nil).Client().Logger() == nil {
		t.Error("the logger is not the given one, or none")
	}
	for name, e := range map[string]kube.Endpoint{"all": endpoint, "one namespace": endpoint.In("default"), "metadata": endpoint.Metadata()} {
		_, err := e.ListPage(t.Context(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), "pods come from no server") {
			t.Errorf("%s: list: %v", name, err)
		}
		_, err = e.OpenWatch(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "pods come from no server") {
			t.Errorf("%s: watch: %v", name, err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/version", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := endpoint.Client().Do(req); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("Do: %v", err)
	}
	endpoint.Client().Close()
}
