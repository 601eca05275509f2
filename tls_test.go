package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestServerVerification(t *testing.T) {
	for _, test := range []struct {
		name     string
		cert     string // name in the server's certificate
		server   string
		cfg      Config
		sni      string
		refused  string // the error
		otherCA  bool   // trust another authority than the server's
		systemCA bool
	}{
		{name: "host name", cert: "api.example.com", server: "https://api.example.com:6443", sni: "api.example.com"},
		{name: "IP address", cert: "192.0.2.1", server: "https://192.0.2.1:6443", sni: ""},
		{name: "IPv6 address", cert: "2001:db8::1", server: "https://[2001:db8::1]:6443", sni: ""},
		{name: "wrong name", cert: "api.example.com", server: "https://other.example.com", refused: "valid for api.example.com, not other.example.com"},
		{name: "tls-server-name", cert: "kubernetes.default.svc", server: "https://10.0.0.10:6443",
			cfg: Config{ServerName: "kubernetes.default.svc"}, sni: "kubernetes.default.svc"},
		{name: "tls-server-name that does not match", cert: "10.0.0.10", server: "https://10.0.0.10:6443",
			cfg: Config{ServerName: "kubernetes.default.svc"}, refused: "kubernetes.default.svc"},
		{name: "tls-server-name that is an address", cert: "10.0.0.10", server: "https://gateway.example.com",
			cfg: Config{ServerName: "10.0.0.10"}, sni: ""},
		{name: "insecure", cert: "whatever", server: "https://api.example.com", cfg: Config{Insecure: true}, otherCA: true, sni: "api.example.com"},
		{name: "another authority", cert: "api.example.com", server: "https://api.example.com", otherCA: true, refused: "unknown authority"},
		{name: "the system's authorities", cert: "api.example.com", server: "https://api.example.com", systemCA: true, refused: "unknown authority"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ca := newAuthority(t, "cluster")
			l := loopback(t)
			s := startTLSOn(t, l, ca.pair(test.cert), whoAmI)
			cfg := test.cfg
			cfg.Server, cfg.Dial = test.server, dialTo(l)
			cfg.OnRetry = func(i RetryInfo) { t.Errorf("repeated after %v", i.Err) }
			switch {
			case cfg.Insecure || test.systemCA:
			case test.otherCA:
				cfg.CAData = newAuthority(t, "other").pem
			default:
				cfg.CAData = ca.pem
			}
			tr := testTransport(t, &cfg)
			resp, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", ""))
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("error = %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if s.hello.ServerName != test.sni {
				t.Errorf("SNI = %q, want %q", s.hello.ServerName, test.sni)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	for _, test := range []struct {
		name  string
		files bool
	}{{"data", false}, {"files", true}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca := newAuthority(t, "cluster")
				s := startTLS(t, ca.pair("api.example.com"), whoAmI)
				// The server asks for certificates of somebody else, as one behind a gateway does.
				s.roots = x509.NewCertPool()
				s.roots.AppendCertsFromPEM(newAuthority(t, "somebody else").pem)
				cert, key := ca.issue("admin")
				cfg := &Config{Server: "https://api.example.com", CAData: ca.pem, Dial: s.dial, CertData: concat(cert, ca.pem), KeyData: key}
				if test.files {
					cfg.CertFile, cfg.KeyFile = filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key")
					writeFile(t, cfg.CertFile, string(cfg.CertData))
					writeFile(t, cfg.KeyFile, string(cfg.KeyData))
					cfg.CertData, cfg.KeyData = nil, nil
				}
				tr := testTransport(t, cfg)
				if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != "HTTP/2.0 admin" {
					t.Errorf("seen as %q, want admin over HTTP/2", got)
				}
			})
		})
	}
}

func TestProtocolsOverTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t, "cluster")
		s := startTLS(t, ca.pair("api.example.com"), whoAmI)
		only1 := new(http.Protocols)
		only1.SetHTTP1(true)
		tr := testTransport(t, &Config{Server: "https://api.example.com", CAData: ca.pem, Dial: s.dial, Protocols: only1})
		if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != "HTTP/1.1 nobody" {
			t.Errorf("seen as %q, want HTTP/1.1", got)
		}
	})
}

// An authority that was replaced is used at once: the failing handshake makes the file be read.
func TestAuthorityFileIsReloaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	before, after := newAuthority(t, "before"), newAuthority(t, "after")
	writeFile(t, file, string(before.pem))
	l := loopback(t)
	s := startTLSOn(t, l, before.pair("api.example.com"), whoAmI)
	logger, log := logged()
	tr := testTransport(t, &Config{Server: "https://api.example.com", CAFile: file, Dial: dialTo(l), Logger: logger})
	do(t, tr, newRequest(t, tr, "GET", "/api", ""))

	s.use(func(s *tlsServer) { s.cert = after.pair("api.example.com") })
	tr.close() // the next request needs a new connection
	if _, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "")); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("error = %v: the file has not changed yet", err)
	}
	writeFile(t, file, "nonsense")
	if _, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "")); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("error = %v: the file cannot be used", err)
	}
	writeFile(t, file, string(after.pem))
	if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "body")); code != 200 {
		t.Errorf("status = %d", code)
	}
	if !strings.Contains(log.String(), "cannot be used, going on with the previous ones") ||
		!strings.Contains(log.String(), "certificate files changed, opening new connections") {
		t.Errorf("log:\n%s", log)
	}
}

// A file that changed is noticed within a minute, also while connections are busy: new requests
// use new connections, a stream on an old one goes on to its end, and then the old one goes.
func TestRotationRecyclesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t, "cluster")
		dir := t.TempDir()
		certFile, keyFile := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
		rotate := func(name string) {
			cert, key := ca.issue(name)
			writeFile(t, certFile, string(cert))
			writeFile(t, keyFile, string(key))
		}
		rotate("first")
		release := make(chan struct{})
		s := startTLS(t, ca.pair("api.example.com"), func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/watch" {
				w.(http.Flusher).Flush()
				<-release
			}
			whoAmI(w, r)
		})
		tr := testTransport(t, &Config{Server: "https://api.example.com", CAData: ca.pem, CertFile: certFile, KeyFile: keyFile, Dial: s.dial})
		watch, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/watch", ""))
		if err != nil {
			t.Fatal(err)
		}
		seenAs := func() string {
			_, body := do(t, tr, newRequest(t, tr, "GET", "/api", ""))
			return strings.TrimPrefix(body, "HTTP/2.0 ")
		}
		if got := seenAs(); got != "first" {
			t.Errorf("seen as %q", got)
		}
		rotate("second")
		if got := seenAs(); got != "first" {
			t.Errorf("seen as %q within the minute", got)
		}
		time.Sleep(time.Minute)
		if got := seenAs(); got != "second" {
			t.Errorf("seen as %q after a minute", got)
		}
		// Half a rotation: the certificate is new, the key is not there yet.
		cert, key := ca.issue("third")
		writeFile(t, certFile, string(cert))
		time.Sleep(time.Minute)
		if got := seenAs(); got != "second" {
			t.Errorf("seen as %q with half a rotation", got)
		}
		writeFile(t, keyFile, string(key))
		time.Sleep(time.Minute)
		if got := seenAs(); got != "third" {
			t.Errorf("seen as %q after the whole", got)
		}

		synctest.Wait() // the server has seen the ends of the connections
		if opened, open := s.counts(); opened != 3 || open != 2 {
			t.Errorf("%d connections opened, %d open; want 3 and 2, the watch's and the new", opened, open)
		}
		close(release)
		if body, err := io.ReadAll(watch.Body); err != nil || string(body) != "HTTP/2.0 first" {
			t.Errorf("the watch ended with %q, %v", body, err)
		}
		watch.Body.Close()
		time.Sleep(idleConnTimeout + time.Second)
		seenAs()
		synctest.Wait()
		if _, open := s.counts(); open != 1 {
			t.Errorf("%d connections are open, want 1: nothing uses the first certificate any more", open)
		}
	})
}

// A server that no longer accepts the certificate makes the files be read, and the request be
// sent again with what is there now.
func TestRefusedClientCertificate(t *testing.T) {
	for _, test := range []struct {
		name   string
		refuse func(s *tlsServer, after *authority) // makes the server want after's certificates
	}{
		{"in the handshake", func(s *tlsServer, after *authority) {
			s.roots = x509.NewCertPool()
			s.roots.AddCert(after.cert)
			s.need = tls.RequireAndVerifyClientCert
		}},
		{"with a 401", func(*tlsServer, *authority) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := newAuthority(t, "before"), newAuthority(t, "after")
			dir := t.TempDir()
			certFile, keyFile := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
			use := func(cert, key []byte) {
				writeFile(t, certFile, string(cert))
				writeFile(t, keyFile, string(key))
			}
			use(before.issue("old"))
			accepted := "old"
			l := loopback(t)
			s := startTLSOn(t, l, before.pair("api.example.com"), func(w http.ResponseWriter, r *http.Request) {
				if r.TLS.PeerCertificates[0].Subject.CommonName != accepted {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				io.Copy(w, r.Body)
			})
			tr := testTransport(t, &Config{Server: "https://api.example.com", CAData: before.pem, CertFile: certFile, KeyFile: keyFile, Dial: dialTo(l)})
			do(t, tr, newRequest(t, tr, "GET", "/api", ""))

			accepted = "new"
			s.use(func(s *tlsServer) { test.refuse(s, after) })
			tr.close()
			resp, err := tr.unary.RoundTrip(newRequest(t, tr, "POST", "/api", "body"))
			if err == nil && resp.StatusCode != http.StatusUnauthorized {
				t.Fatalf("the old certificate was accepted: %v", resp)
			}
			if err == nil {
				resp.Body.Close()
			}
			use(after.issue("new"))
			code, body := do(t, tr, newRequest(t, tr, "POST", "/api", "body"))
			if code != 200 || body != "body" {
				t.Errorf("status %d, body %q", code, body)
			}
		})
	}
}

func TestTLSFilesThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t, "cluster")
		file := filepath.Join(t.TempDir(), "ca.crt")
		writeFile(t, file, string(ca.pem))
		s := startTLS(t, ca.pair("api.example.com"), whoAmI)
		tr := testTransport(t, &Config{Server: "https://api.example.com", CAFile: file, Dial: s.dial})
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		os.Remove(file)
		time.Sleep(time.Hour)
		if code, _ := do(t, tr, newRequest(t, tr, "GET", "/api", "")); code != 200 {
			t.Errorf("status = %d; the authority that was good goes on", code)
		}
	})
}
