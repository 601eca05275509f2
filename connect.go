package kube

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-kube/kube/resource"
)

// Connect opens a subresource that is a stream and not an object: log, exec, attach, port forward
// or proxy. header goes with the request: with an Upgrade in it the connection is HTTP/1.1 and
// nobody else's, and the body of the answer 101 can be written to. A refusal is an [*Error] with
// the server's Status. The caller closes the body. Only ctx bounds the stream; it is not retried.
func (e Endpoint) Connect(ctx context.Context, name string, d *resource.SubresourceDescriptor, query url.Values, header http.Header) (*http.Response, error) {
	r, err := e.object("get", http.MethodGet, name)
	r.subresource, r.query, r.stream = d.Name, query, true
	if err != nil {
		return nil, e.fail(r, err)
	}
	ctx = withRequestInfo(WithoutRetry(ctx), RequestInfo{
		Verb: "get", Group: e.kind.Group, Version: e.kind.Version, Resource: e.kind.Plural,
		Subresource: d.Name, Namespace: r.namespace, Name: name,
	})
	req := (&http.Request{Method: http.MethodGet, URL: e.url(r), Header: header.Clone()}).WithContext(ctx)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	resp, err := e.client.transport.unary.RoundTrip(req)
	if err != nil {
		return nil, e.fail(r, causeOf(ctx, err))
	}
	upgrade := header.Get("Upgrade") != ""
	switch {
	case upgrade && resp.StatusCode == http.StatusSwitchingProtocols, !upgrade && resp.StatusCode/100 == 2:
		return resp, nil
	case resp.StatusCode/100 == 2:
		resp.Body.Close()
		return nil, e.fail(r, errors.New("the server, or a proxy on the way, answered without switching to "+header.Get("Upgrade")))
	}
	defer resp.Body.Close()
	return nil, e.fail(r, e.refusal(r, resp))
}
