package kube

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	dialTimeout        = 30 * time.Second
	keepAlive          = 30 * time.Second
	handshakeTimeout   = 10 * time.Second
	idleConnTimeout    = 90 * time.Second
	idleConnsPerHost   = 25
	http2PingAfter     = 30 * time.Second
	http2PingTimeout   = 15 * time.Second
	http2FrameSize     = 64 << 10
	fileReloadInterval = time.Minute
)

// connections is the innermost RoundTripper: the pool of connections to the server.
//
// A pool belongs to one set of certificates. When a configured file changes, a new pool takes
// over, and the old one closes what is idle; what is in use there, such as a watch, goes on to
// its end. So the verification is crypto/tls' own, without callbacks of ours in it, and nothing
// new is ever sent with a certificate that was rotated out.
type connections struct {
	cfg     *Config
	proxy   *proxies
	creds   credentials // nil unless they may hand out client certificates
	current atomic.Pointer[http.Transport]
	reloads bool
	checked atomic.Int64 // when the files were last read, in Unix nanoseconds

	adopted atomic.Pointer[identity] // whose client certificate current has

	mu       sync.Mutex // guards what follows, and replacing current
	material tlsMaterial
}

func newConnections(c *Config, proxy *proxies, creds credentials) (*connections, error) {
	p := &connections{cfg: c, proxy: proxy, reloads: reloadsTLS(c)}
	if _, ok := creds.(*sourced); ok && !c.hasClientCertificate() {
		p.creds = creds
	}
	material, err := readTLSMaterial(c)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := material.tlsConfig(c)
	if err != nil {
		return nil, err
	}
	p.material = material
	p.checked.Store(time.Now().UnixNano())
	p.current.Store(p.newPool(tlsConfig))
	return p, nil
}

// newPool makes the transport that is used for every request but upgrades: HTTP/2 carries
// any number of requests and watches over one connection.
func (p *connections) newPool(tlsConfig *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               p.proxy.forRequest,
		DialContext:         p.proxy.dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  p.cfg.DisableCompression,
		MaxIdleConnsPerHost: idleConnsPerHost,
		IdleConnTimeout:     idleConnTimeout,
		ForceAttemptHTTP2:   true,
		Protocols:           p.cfg.Protocols,
		// A connection that died without a word (a VPN that dropped, a NAT entry that expired) is
		// found by a ping, and all its watches start over. Frames of four times the usual size
		// make a large list cost less, and a connection 64 KiB.
		HTTP2: &http.HTTP2Config{SendPingTimeout: http2PingAfter, PingTimeout: http2PingTimeout, MaxReadFrameSize: http2FrameSize},
	}
}

// RoundTrip implements [http.RoundTripper].
func (p *connections) RoundTrip(req *http.Request) (*http.Response, error) {
	pool, err := p.pool(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if req.Header.Get("Upgrade") != "" {
		return forUpgrade(pool).RoundTrip(req)
	}
	resp, err := pool.RoundTrip(req)
	if !p.suspects(resp, err) {
		return resp, err
	}
	next := p.newerThan(req, pool)
	if next == pool {
		return resp, err
	}
	again, ok := rewind(req)
	if !ok {
		return resp, err
	}
	discard(resp)
	return next.RoundTrip(again)
}

// pool returns the pool to use now, after looking for something newer where that is due.
func (p *connections) pool(req *http.Request) (*http.Transport, error) {
	if p.reloads && time.Now().UnixNano()-p.checked.Load() >= int64(fileReloadInterval) && p.mu.TryLock() {
		p.reload()
		p.mu.Unlock()
	}
	if p.creds != nil {
		id, err := p.creds.current(req.Context())
		if err == nil {
			err = p.adopt(id)
		}
		if err != nil {
			return nil, err
		}
	}
	return p.current.Load(), nil
}

// forUpgrade returns a transport for one request that makes a connection something else, which
// HTTP/2 cannot.
func forUpgrade(pool *http.Transport) *http.Transport {
	t := pool.Clone()
	t.DisableKeepAlives = true // a refusal leaves nothing behind
	t.ForceAttemptHTTP2, t.TLSNextProto, t.HTTP2 = false, nil, nil
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	return t
}

// adopt makes the client certificate of id the one of new connections.
func (p *connections) adopt(id *identity) error {
	if p.adopted.Load() == id {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	material := p.material
	material.cert, material.key = id.cert, id.key
	if !material.equal(p.material) {
		tlsConfig, err := material.tlsConfig(p.cfg)
		if err != nil {
			return err
		}
		p.replace(material, tlsConfig)
	}
	p.adopted.Store(id)
	return nil
}

// newerThan returns the pool to use after pool failed: pool itself if the files have not changed.
func (p *connections) newerThan(req *http.Request, pool *http.Transport) *http.Transport {
	if id := p.adopted.Load(); id != nil && len(id.cert) > 0 {
		newer, err := p.creds.renewed(req.Context(), id)
		if err != nil || newer == nil || p.adopt(newer) != nil {
			return pool
		}
		return p.current.Load()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.Load() == pool {
		p.reload()
	}
	return p.current.Load()
}

// suspects reports whether the certificates in use may be the reason of a failure.
func (p *connections) suspects(resp *http.Response, err error) bool {
	switch {
	case !p.reloads && p.creds == nil:
		return false
	case err != nil:
		return staleTLS(err)
	}
	return p.reloads && resp.StatusCode == http.StatusUnauthorized && p.cfg.hasClientCertificate()
}

// reload reads the files, and replaces the pool if they changed. What cannot be read or used, as
// while a certificate has been replaced and its key not yet, leaves everything as it is. It is
// called with mu held.
func (p *connections) reload() {
	p.checked.Store(time.Now().UnixNano())
	material, err := readTLSMaterial(p.cfg)
	if p.creds != nil {
		material.cert, material.key = p.material.cert, p.material.key
	}
	if err == nil && material.equal(p.material) {
		return
	}
	var tlsConfig *tls.Config
	if err == nil {
		tlsConfig, err = material.tlsConfig(p.cfg)
	}
	if err != nil {
		p.cfg.Logger.Warn("kube: certificate files changed and cannot be used, going on with the previous ones",
			slog.Any("error", err))
		return
	}
	p.replace(material, tlsConfig)
	p.cfg.Logger.Info("kube: certificate files changed, opening new connections")
}

// replace is called with mu held.
func (p *connections) replace(material tlsMaterial, tlsConfig *tls.Config) {
	p.material = material
	old := p.current.Swap(p.newPool(tlsConfig))
	old.CloseIdleConnections()
}

// CloseIdleConnections closes the connections that nothing uses.
func (p *connections) CloseIdleConnections() { p.current.Load().CloseIdleConnections() }

// dialerOf returns how connections are opened: the configured way, or the operating system's.
func dialerOf(c *Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	if c.Dial != nil {
		return c.Dial
	}
	return (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext
}
