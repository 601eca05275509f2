package kubeconfig_test

import (
	"testing"

	"github.com/go-kube/kube/internal/deptest"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"sigs.k8s.io/yaml/...",
	)
}
