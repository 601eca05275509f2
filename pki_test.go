package kube

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// authority issues certificates that hold in the year 2000, where synctest's clock starts, and now.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

var serials = big.NewInt(1)

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	template := certificate(name)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.cert, a.pem = a.sign(template, template, &a.key.PublicKey)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificate(name string) *x509.Certificate {
	serials.Add(serials, big.NewInt(1))
	return &x509.Certificate{
		SerialNumber: new(big.Int).Set(serials),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) (*x509.Certificate, []byte) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// issue returns the PEM of a certificate for name, which is also its host name or IP address.
func (a *authority) issue(name string) (certPEM, keyPEM []byte) {
	a.t.Helper()
	template := certificate(name)
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	key := newKey(a.t)
	_, certPEM = a.sign(template, a.cert, &key.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return certPEM, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (a *authority) pair(name string) tls.Certificate {
	a.t.Helper()
	cert, key := a.issue(name)
	return must(tls.X509KeyPair(cert, key))
}

// loopback is a listener of the operating system, for what pipes cannot do: hold what is written
// until somebody reads it.
func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dialTo connects to l whatever the address.
func dialTo(l net.Listener) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}
}

// tlsServer is an HTTPS server in memory whose certificate can be replaced.
type tlsServer struct {
	*pipes // nil if it has another listener
	mu     sync.Mutex
	cert   tls.Certificate
	roots  *x509.CertPool // of client certificates
	need   tls.ClientAuthType
	hello  *tls.ClientHelloInfo // of the last handshake
	open   map[net.Conn]bool
	conns  int // that were ever opened
}

func startTLS(t *testing.T, cert tls.Certificate, handler http.HandlerFunc) *tlsServer {
	t.Helper()
	p := newPipes()
	s := startTLSOn(t, p, cert, handler)
	s.pipes = p
	return s
}

func startTLSOn(t *testing.T, l net.Listener, cert tls.Certificate, handler http.HandlerFunc) *tlsServer {
	t.Helper()
	s := &tlsServer{cert: cert, need: tls.RequestClientCert, open: map[net.Conn]bool{}}
	config := &tls.Config{
		NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.hello = hello
			return &tls.Config{Certificates: []tls.Certificate{s.cert}, ClientAuth: s.need, ClientCAs: s.roots, NextProtos: []string{"h2", "http/1.1"}}, nil
		},
	}
	srv := &http.Server{Handler: handler, TLSConfig: config, ConnState: s.state, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.ServeTLS(l, "", "")
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return s
}

func (s *tlsServer) state(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.open[c] = true
		s.conns++
	case http.StateClosed:
		delete(s.open, c)
	}
}

func (s *tlsServer) use(change func(*tlsServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *tlsServer) counts() (opened, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns, len(s.open)
}

// whoAmI answers with the protocol and the name of the client's certificate.
func whoAmI(w http.ResponseWriter, r *http.Request) {
	name := "nobody"
	if len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	fmt.Fprintf(w, "%s %s", r.Proto, name)
}

// hosts is a network in memory with several hosts, by host:port.
type hosts map[string]*pipes

func (h hosts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	p, ok := h[address]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
	}
	return p.dial(ctx, network, address)
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
