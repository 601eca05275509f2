package kube

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-kube/kube/resource"
)

// DefaultTimeout bounds every request except watches and streams when neither the caller's
// context nor [Config.Timeout] says otherwise.
const DefaultTimeout = 60 * time.Second

// Client talks to one API server. It is safe for concurrent use, and meant to be shared:
// all requests of a client go over few connections. Make one with [NewClient] or [Default].
type Client struct {
	transport *transport
	base      *url.URL
	namespace string
	timeout   time.Duration
	logger    *slog.Logger
	memory    memory

	extensions sync.Map // by type, see Extension
}

// Default returns a client for the configuration that [InferConfig] finds: kubeconfig, else
// the service account of the pod that the program runs in.
func Default() (*Client, error) {
	cfg, err := InferConfig()
	if err != nil {
		return nil, err
	}
	return NewClient(cfg)
}

// NewClient returns a client for cfg, which is copied. No request is made: a server that
// cannot be reached is an error of the first call.
func NewClient(cfg *Config) (*Client, error) {
	t, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{
		transport: t,
		base:      t.baseURL,
		namespace: cfg.Namespace,
		timeout:   cfg.Timeout,
		logger:    cfg.Logger,
	}
	if c.namespace == "" {
		c.namespace = "default"
	}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Close closes the idle connections of the client. Requests under way go on; the client can
// still be used, and opens new connections then.
func (c *Client) Close() { c.transport.close() }

// Logger returns the logger of the configuration, or one that discards: never nil.
func (c *Client) Logger() *slog.Logger { return c.logger }

// CurrentNamespace returns the namespace of the configuration: that of the kubeconfig's context, or of
// the pod; "default" where none is set.
func (c *Client) CurrentNamespace() string { return c.namespace }

// Namespaced returns the API of kind in one namespace. A cluster-scoped kind does not
// compile here; a dynamic kind that turns out to be cluster-scoped, and an empty namespace,
// are errors of each call.
func (c *Client) Namespaced[K any](kind resource.NamespacedKind[K], namespace string) API[K] {
	e := Endpoint{client: c, kind: kind.Descriptor()}
	return API[K]{e.In(namespace)}
}

// DefaultNamespace returns the API of kind in the namespace of the configuration, see
// [Client.CurrentNamespace].
func (c *Client) DefaultNamespace[K any](kind resource.NamespacedKind[K]) API[K] {
	return c.Namespaced(kind, c.namespace)
}

// All returns the API of kind over the whole cluster. For a namespaced kind that is every
// namespace: lists, watches and collection deletes span them all, writes go to the namespace
// that the object names, and calls that only have a name, such as Get, fail.
func (c *Client) All[K any](kind resource.Kind[K]) API[K] {
	return API[K]{Endpoint{client: c, kind: kind.Descriptor()}}
}

// Do sends a request that this package has no method for, through the whole chain of
// credentials, retries and middleware. The URL's path and query are taken as relative to the
// server's address; scheme and host may be left out. The caller closes the body of the
// response and looks at its status. No deadline is added to the request's context.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	r.URL = c.at(req.URL.Path)
	if req.URL.RawPath != "" {
		r.URL.RawPath = strings.TrimSuffix(c.base.EscapedPath(), "/") + req.URL.RawPath
	}
	r.URL.RawQuery = req.URL.RawQuery
	r.Host = ""
	return c.transport.unary.RoundTrip(r)
}

// at returns the address of path, which starts with a slash, on the server: below the prefix
// that the server's address may have.
func (c *Client) at(path string) *url.URL {
	u := *c.base
	if c.base.RawPath != "" {
		u.RawPath = strings.TrimSuffix(c.base.RawPath, "/") + (&url.URL{Path: path}).EscapedPath()
	}
	u.Path = strings.TrimSuffix(c.base.Path, "/") + path
	return &u
}
