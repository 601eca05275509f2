package crd_test

import (
	"testing"

	"github.com/go-kube/kube/internal/deptest"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube",
		"github.com/go-kube/kube/resource",
		"github.com/go-kube/kube/internal/apidoc",
		"github.com/go-kube/kube/internal/wire",
		"github.com/go-kube/kube/internal/codec",
		"github.com/go-kube/kube/internal/suggest",
		"github.com/go-kube/kube/kubeconfig",
		"sigs.k8s.io/yaml/...",
		"go.yaml.in/yaml/v3/...",
		"golang.org/x/sync/...",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/...",
		"k8s.io/apiextensions-apiserver/pkg/features/...",
		"k8s.io/api/...",
		"github.com/go-kube/kube/k8s/apiextensions",
	)
}
