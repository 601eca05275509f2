package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
)

var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// proxies chooses the proxy of a request and opens connections to it. net/http does the talking
// (CONNECT and SOCKS5), except for one hop: to a proxy that is itself spoken to over TLS,
// net/http would use the server's TLS settings, and so show it the client certificate, look for
// the server's name in its certificate and accept only the cluster's authority. Here the proxy
// has TLS settings of its own.
type proxies struct {
	choose func(*url.URL) (*url.URL, error)
	server string // host:port of the API server
	direct func(ctx context.Context, network, address string) (net.Conn, error)
	cfg    *Config
	ca     atomic.Pointer[[]byte] // the cluster's authority, as it could last be read
	secure sync.Map               // host:port of the proxies that are spoken to over TLS
}

func newProxies(c *Config, server *url.URL) (*proxies, error) {
	p := &proxies{server: hostPort(server), direct: dialerOf(c), cfg: c}
	if c.ProxyURL == "" {
		// net/http looks at the environment once in the life of a process.
		p.choose = func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) }
	} else {
		u, err := parseProxy(c.ProxyURL)
		if err != nil {
			return nil, err
		}
		p.choose = func(*url.URL) (*url.URL, error) { return u, nil }
	}
	return p, nil
}

// parseProxy reads a proxy's address.
func parseProxy(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("Config.ProxyURL %q is not an address: %w", redactURL(s), unwrapURLError(err))
	}
	if _, known := proxyPorts[u.Scheme]; !known || u.Hostname() == "" {
		return nil, fmt.Errorf("Config.ProxyURL %q has to be http://, https://, socks5:// or socks5h:// and a host", u.Redacted())
	}
	return u, nil
}

// forRequest is the Proxy function of the transport.
func (p *proxies) forRequest(req *http.Request) (*url.URL, error) {
	u, err := p.choose(req.URL)
	if err != nil || u == nil || u.Scheme != "https" {
		return u, err
	}
	address := hostPort(u)
	switch {
	case address == p.server:
		return nil, fmt.Errorf("the proxy %s is the API server itself", u.Redacted())
	case slices.ContainsFunc([]byte(address), func(b byte) bool { return b >= 0x80 }):
		return nil, fmt.Errorf("the proxy %s has a host name outside ASCII; write it in its xn-- form", u.Redacted())
	}
	p.secure.Store(address, nil)
	return &url.URL{Scheme: "http", User: u.User, Host: address}, nil
}

// dial is the DialContext of the transport: address is the proxy's, or the server's if there
// is no proxy for it.
func (p *proxies) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := p.direct(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if _, secure := p.secure.Load(address); !secure {
		return conn, nil
	}
	conn, err = p.handshake(ctx, conn, address)
	if err != nil {
		return nil, fmt.Errorf("TLS with the proxy %s: %w", address, err)
	}
	return conn, nil
}

func (p *proxies) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, errors.New("no handshake in time"))
	defer cancel()
	config := p.tlsConfig()
	config.ServerName, _, _ = net.SplitHostPort(address)
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// tlsConfig accepts what the system accepts, and the cluster's authority as well: client-go
// knows only the latter, and there are proxies that live by it. Its file is read for each
// connection, since it may have been replaced; as long as it cannot be read, what it held counts.
func (p *proxies) tlsConfig() *tls.Config {
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: p.cfg.Insecure, NextProtos: []string{"http/1.1"}}
	if ca, err := fileOrData("CA", p.cfg.CAData, p.cfg.CAFile); err == nil {
		p.ca.Store(&ca)
	}
	ca := p.ca.Load()
	if ca == nil || len(*ca) == 0 {
		return t
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(*ca)
	t.RootCAs = roots
	return t
}

// hostPort returns the address to dial for u.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = proxyPorts[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
