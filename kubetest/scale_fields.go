package kubetest

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/go-kube/kube/resource"
)

// newScaleFieldManager returns a field manager for scale subresources.
func newScaleFieldManager(custom bool) (*managedfields.FieldManager, error) {
	c := &builtinObjects{kind: newScaleKind()}
	gv := scaleKind.GroupVersion()
	if !custom {
		return managedfields.NewDefaultFieldManager(c, c, c, c, scaleKind, gv, "scale", nil)
	}
	s := customScales{c}
	return managedfields.NewDefaultCRDFieldManager(s, s, s, s, scaleKind, gv, "scale", nil)
}

// newScaleKind returns the kind of scales, which is no kind that is served.
func newScaleKind() *kind {
	return &kind{
		Descriptor: &resource.Descriptor{Info: resource.Info{Group: scaleKind.Group, Version: scaleKind.Version, Kind: scaleKind.Kind}},
		new:        func() runtime.Object { return &autoscalingv1.Scale{} },
		strategy:   &strategy{},
	}
}

// customScales are the scales of custom resources. A real server takes those that are not of
// the Go type for custom resources of another group, so that nobody can apply them.
type customScales struct{ *builtinObjects }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c customScales) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := in.(*unstructured.Unstructured); ok {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %v", scaleKind.GroupVersion())
	}
	return c.builtinObjects.ConvertToVersion(in, target)
}

// New implements runtime.ObjectCreater.
func (c customScales) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}
