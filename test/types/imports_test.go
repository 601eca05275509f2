package types

// What generated packages import, so that this module requires it.
import (
	_ "github.com/go-kube/kube/crd"
	_ "github.com/go-kube/kube/internal/codec"
	_ "github.com/go-kube/kube/resource"
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/api/batch/v1"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/api/networking/v1"
	_ "k8s.io/api/rbac/v1"
	_ "k8s.io/apimachinery/pkg/util/intstr"
)
