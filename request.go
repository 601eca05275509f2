package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-kube/kube/resource"
)

// Request is a request to any path of the API server, for what this package has no method for:
// /version, /metrics, a resource by its address, the proxy to a service. [Client.Send] returns
// the body of the answer, [Client.Open] a stream, and [Client.NewRequest] sends nothing.
type Request struct {
	// Method is the HTTP method; empty means GET.
	Method string
	// Path begins with a slash and is relative to the server's address. It is escaped as in an
	// address, and may have a query: what kubectl get --raw takes. [JoinPath] makes one of names.
	Path string
	// Query is added to that of Path.
	Query url.Values
	// Header goes with the request. Without an Accept in it JSON is asked for, and a Body without
	// a Content-Type is sent as JSON.
	Header http.Header
	// Body is what is sent. It is not copied. What cannot be in memory at once is sent with
	// [Client.Do].
	Body []byte
}

// JoinPath returns the path of segments, such as "api", "v1", "namespaces", with everything
// escaped that would end a segment. Empty segments, "." and ".." have no place in a path of the
// API server, and lead to an error of the request.
func JoinPath(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// NewRequest returns r as a request for [Client.Do], with a body that can be sent repeatedly.
// The address in it is relative to the server's, and credentials are added when it is sent.
func (c *Client) NewRequest(ctx context.Context, r Request) (*http.Request, error) {
	req, err := r.build(ctx)
	if err != nil {
		return nil, r.fail(err)
	}
	return req, nil
}

func (r Request) build(ctx context.Context) (*http.Request, error) {
	u, err := r.address()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.method(), u.String(), nil)
	if err != nil {
		return nil, err
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", mediaJSON)
	}
	if r.Body != nil {
		setBody(req, r.Body)
		if req.Header.Get("Content-Type") == "" {
			req.Header.Set("Content-Type", mediaJSON)
		}
	}
	return req, nil
}

func (r Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func (r Request) address() (*url.URL, error) {
	u, err := url.Parse(r.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the path %q: %w", r.Path, unwrapURLError(err))
	case u.IsAbs() || u.Host != "" || u.User != nil:
		return nil, fmt.Errorf("the path %q names a host; requests go to the server of the Config", r.Path)
	case !strings.HasPrefix(u.Path, "/"):
		return nil, fmt.Errorf("the path %q does not begin with a slash", r.Path)
	case u.Fragment != "" || strings.Contains(r.Path, "#"):
		return nil, fmt.Errorf("the path %q has a fragment; a # in a name is written %%23", r.Path)
	case slices.ContainsFunc(strings.Split(u.EscapedPath(), "/"), isDots):
		return nil, fmt.Errorf("the path %q has a segment . or .., which names nothing", r.Path)
	case strings.Contains(u.EscapedPath(), "//"):
		return nil, fmt.Errorf("the path %q has an empty segment", r.Path)
	}
	query := u.Query()
	for k, values := range r.Query {
		query[k] = append(query[k], values...)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// isDots reports whether a segment, escaped or not, is one that proxies and servers resolve.
func isDots(segment string) bool {
	segment, err := url.PathUnescape(segment)
	return err == nil && (segment == "." || segment == "..")
}

// fail names the request in err.
func (r Request) fail(err error) error { return failure(r.method(), r.name(), err) }

// name is the path without its query, for errors.
func (r Request) name() string {
	path, _, _ := strings.Cut(r.Path, "?")
	return path
}

// failure is the error of a request for what is no object.
func failure(method, path string, err error) error {
	return &Error{Verb: strings.ToLower(method), Resource: path, Err: err}
}

// Send sends r and returns the body of the answer. It is bounded by [Config.Timeout] when ctx has
// no deadline. An answer other than 2xx is an [*Error] with the server's Status, if it sent one.
func (c *Client) Send(ctx context.Context, r Request) ([]byte, error) {
	req, err := c.NewRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	body, _, err := c.receive(ctx, req, r.name())
	return body, err
}

// Open sends r and returns the answer when its header has come, with a body to read from as it
// arrives. The caller closes it; only ctx bounds it. An answer other than 2xx, and 101 to an
// upgrade, is an [*Error] as of [Client.Send].
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	req, err := c.NewRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.open(ctx, req, r.name())
}

// open sends a request for what is no object; path is for errors.
func (c *Client) open(ctx context.Context, req *http.Request, path string) (*http.Response, error) {
	resp, err := c.Do(req.WithContext(ctx))
	if err != nil {
		return nil, failure(req.Method, path, causeOf(ctx, err))
	}
	if resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, failure(req.Method, path, Endpoint{client: c, kind: &resource.Descriptor{}}.refusal(&request{method: req.Method}, resp))
}

// receive is open for the whole body of the answer.
func (c *Client) receive(ctx context.Context, req *http.Request, path string) (body []byte, header http.Header, err error) {
	if _, bounded := ctx.Deadline(); !bounded && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, noAnswerError(c.timeout))
		defer cancel()
	}
	resp, err := c.open(ctx, req, path)
	if err != nil {
		return nil, nil, err
	}
	err = readBody(resp, func(b []byte) error { body = slices.Clone(b); return nil })
	if err != nil {
		return nil, nil, failure(req.Method, path, causeOf(ctx, err))
	}
	return body, resp.Header, nil
}

// Build returns the first request that call makes of the client that it is given, and sends
// nothing: to look at it, to sign it, or to send it later with [Client.Do]. Every method of a
// client and of its APIs can be called:
//
//	req, err := client.Build(func(c *kube.Client) error {
//		_, err := c.Namespaced(core.Pods, "web").Get(ctx, "front")
//		return err
//	})
//
// The error of a call that does not get as far as a request is returned. The address in the
// request is relative to the server's. Its context has the values of the call's, but not its end.
// Headers that [Client.Do] adds, such as credentials, are not in it.
func (c *Client) Build(call func(c *Client) error) (*http.Request, error) {
	w := &withheld{base: c.base}
	err := call(&Client{
		transport: &transport{unary: w, baseURL: c.base},
		base:      c.base, namespace: c.namespace, timeout: c.timeout, logger: c.logger,
	})
	switch {
	case w.request != nil:
		return w.request, nil
	case err != nil:
		return nil, err
	}
	return nil, errors.New("kube: Build: the call made no request of the client that it was given")
}

// withheld keeps the first request in place of sending it.
type withheld struct {
	base    *url.URL
	mu      sync.Mutex
	request *http.Request
}

var errWithheld = errors.New("the request was built and not sent")

// RoundTrip implements [http.RoundTripper].
func (w *withheld) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.request != nil {
		return nil, errWithheld
	}
	kept := req.Clone(context.WithoutCancel(req.Context()))
	kept.Host = ""
	kept.URL = &url.URL{
		Path:     strings.TrimPrefix(req.URL.Path, w.base.Path),
		RawQuery: req.URL.RawQuery,
	}
	if req.URL.RawPath != "" {
		kept.URL.RawPath = strings.TrimPrefix(req.URL.RawPath, strings.TrimSuffix(w.base.EscapedPath(), "/"))
	}
	w.request = kept
	return nil, errWithheld
}
