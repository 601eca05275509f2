package stream_test

import (
	"testing"

	"github.com/go-kube/kube/internal/deptest"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube",
		"github.com/go-kube/kube/resource",
		"github.com/go-kube/kube/runtime/watcher",
		"github.com/go-kube/kube/internal/wire",
		"github.com/go-kube/kube/internal/codec",
		"github.com/go-kube/kube/kubeconfig",
		"sigs.k8s.io/yaml/...",
		"go.yaml.in/yaml/v3/...",
		"golang.org/x/sync/...",
	)
}
