package resource_test

import (
	"testing"

	"github.com/go-kube/kube/internal/deptest"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube/internal/wire",
		"github.com/go-kube/kube/internal/codec",
	)
}
