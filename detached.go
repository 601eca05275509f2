package kube

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/go-kube/kube/resource"
)

// Detached returns an endpoint of no server: every request to it, and to its client, is an error. It names the
// kind of a cache that is filled by something other than a watch, such as a file or a test. logger is that of its
// client; nil discards.
func Detached[K any](kind resource.Kind[K], logger *slog.Logger) Endpoint {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	d, address := kind.Descriptor(), &url.URL{Scheme: "http", Host: "nowhere"}
	return Endpoint{kind: d, client: &Client{
		transport: &transport{unary: noServer{d}, baseURL: address},
		base:      address, namespace: "default", timeout: DefaultTimeout, logger: logger,
	}}
}

// noServer sends nothing.
type noServer struct{ kind *resource.Descriptor }

// RoundTrip implements [http.RoundTripper].
func (r noServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	return nil, fmt.Errorf("the %s come from no server: the cache is filled by the program itself, and there is nothing to send requests to", r.kind.Plural)
}
