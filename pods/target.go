package pods

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// target is a pod that streams can be opened to.
type target interface {
	// open starts a stream, as [kube.Endpoint.Connect] does; query is the API server's.
	open(ctx context.Context, d *resource.SubresourceDescriptor, query url.Values, header http.Header) (*http.Response, error)
	// String is how errors call the pod.
	String() string
}

// served is a pod at an API server.
type served struct {
	pods kube.API[corev1.Pod]
	name string
}

func (s served) open(ctx context.Context, d *resource.SubresourceDescriptor, query url.Values, header http.Header) (*http.Response, error) {
	resp, err := s.pods.Endpoint().Connect(ctx, s.name, d, query, header)
	if !apierrors.IsBadRequest(err) || query.Has("container") || d.Name == core.PodPortForward.Descriptor().Name {
		return resp, err
	}
	// The server knows no default among several containers: that is a convention of clients. The pod
	// is read where it is needed only.
	pod, getErr := s.pods.Get(ctx, s.name)
	if getErr != nil || len(pod.Spec.Containers) < 2 || defaultContainer(pod) == "" {
		return nil, err // with the names to choose from
	}
	chosen := maps.Clone(query)
	chosen.Set("container", defaultContainer(pod))
	return s.pods.Endpoint().Connect(ctx, s.name, d, chosen, header)
}

// defaultAnnotation names the container that a person means who names none: the one beside which
// others are injected.
// See https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-default-container
const defaultAnnotation = "kubectl.kubernetes.io/default-container"

// defaultContainer returns the name of the pod's only container, or of the one that its annotation
// names; empty where neither is there.
func defaultContainer(pod *corev1.Pod) string {
	wanted := pod.Annotations[defaultAnnotation]
	for _, c := range pod.Spec.Containers {
		if len(pod.Spec.Containers) == 1 || c.Name == wanted {
			return c.Name
		}
	}
	return ""
}

func (s served) String() string { return fmt.Sprintf("%s/%s", s.pods.Endpoint().Namespace(), s.name) }
