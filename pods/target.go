package pods

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
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
	return s.pods.Endpoint().Connect(ctx, s.name, d, query, header)
}

func (s served) String() string { return fmt.Sprintf("%s/%s", s.pods.Endpoint().Namespace(), s.name) }
