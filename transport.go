package kube

import (
	"io"
	"net/http"
	"net/url"
)

// transport is what a client sends its requests through. From the outside in:
//
//	Config.Wrap → retry → credentials and headers → warnings → connections
//
// It has no goroutine of its own.
type transport struct {
	// unary carries every request whose answer is a body, watches included. Requests that
	// turn a connection into something else (exec, port forwarding) cannot go through it: they
	// need HTTP/1.1.
	unary   http.RoundTripper
	baseURL *url.URL
	inner   http.RoundTripper
}

// newTransport copies cfg, checks it, and reads the files that it names. It opens no
// connection.
func newTransport(cfg *Config) (*transport, error) {
	c, base, err := cfg.prepared()
	if err != nil {
		return nil, err
	}
	t, err := assemble(c, base)
	if err != nil {
		return nil, prefixed(err)
	}
	return t, nil
}

func assemble(c *Config, base *url.URL) (*transport, error) {
	t := &transport{baseURL: base, inner: c.Transport}
	creds, err := newCredentials(c)
	if err != nil {
		return nil, err
	}
	headers, err := identityHeaders(c)
	if err != nil {
		return nil, err
	}
	if t.inner == nil {
		proxy, err := newProxies(c, base)
		if err != nil {
			return nil, err
		}
		if t.inner, err = newConnections(c, proxy, creds); err != nil {
			return nil, err
		}
	}
	t.unary = &warningTransport{next: t.inner, handle: warningHandler(c)}
	t.unary = &identityTransport{next: t.unary, credentials: creds, headers: headers}
	t.unary = newRetryTransport(c, t.unary)
	for i := len(c.Wrap) - 1; i >= 0; i-- {
		t.unary = c.Wrap[i](t.unary)
	}
	return t, nil
}

// close closes the connections that nothing uses. The transport goes on working, and opens new
// ones.
func (t *transport) close() {
	if c, ok := t.inner.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// rewind returns req ready to be sent once more; ok is false if its body cannot be read a second
// time.
func rewind(req *http.Request) (again *http.Request, ok bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again = req.WithContext(req.Context())
	again.Body = body
	return again, true
}

// discard gives up a response. What little it says is read first, without which an HTTP/1.1
// connection could not be used again; a body of unknown length may never end, and is not waited
// for.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	const little = 4 << 10
	if resp.ContentLength >= 0 && resp.ContentLength <= little {
		io.CopyN(io.Discard, resp.Body, little)
	}
	resp.Body.Close()
}
