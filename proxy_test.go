package kube

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// tunnel answers CONNECT, and forwards requests for http:// addresses, for the hosts it knows.
type tunnel struct {
	hosts hosts
	mu    sync.Mutex
	log   []string
}

func (p *tunnel) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, s)
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	auth := r.Header.Get("Proxy-Authorization")
	if r.TLS != nil {
		auth += fmt.Sprintf(" SNI %s, %d client certificates", r.TLS.ServerName, len(r.TLS.PeerCertificates))
	}
	p.note(strings.TrimSpace(r.Method + " " + r.RequestURI + " " + auth))
	if r.Method != http.MethodConnect {
		fmt.Fprint(w, "forwarded")
		return
	}
	to, err := p.hosts.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	from, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	join(from, to)
}

// join copies in both directions until one of them ends.
func join(a, b net.Conn) {
	var wg sync.WaitGroup
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			io.Copy(pair[0], pair[1])
			a.Close()
			b.Close()
		})
	}
	wg.Wait()
}

func (p *tunnel) serve(t *testing.T, l *pipes, tlsConfig *tls.Config) {
	t.Helper()
	srv := &http.Server{Handler: p, TLSConfig: tlsConfig, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if tlsConfig != nil {
			srv.ServeTLS(l, "", "")
		} else {
			srv.Serve(l)
		}
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
}

func TestProxies(t *testing.T) {
	for _, test := range []struct {
		name, proxy, address string
		secure               bool
		want                 string // what the proxy saw
	}{
		{"http", "http://proxy.example.com:3128", "proxy.example.com:3128", false, "CONNECT api.internal:6443"},
		{"http with a password", "http://user:p%40ss%20word@proxy.example.com:3128", "proxy.example.com:3128", false,
			"CONNECT api.internal:6443 Basic dXNlcjpwQHNzIHdvcmQ="},
		{"http on the usual port", "http://proxy.example.com", "proxy.example.com:80", false, "CONNECT api.internal:6443"},
		{"https", "https://user:secret@proxy.example.com", "proxy.example.com:443", true,
			"CONNECT api.internal:6443 Basic dXNlcjpzZWNyZXQ= SNI proxy.example.com, 0 client certificates"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca := newAuthority(t, "cluster")
				s := startTLS(t, ca.pair("kubernetes.default.svc"), whoAmI)
				proxy := &tunnel{hosts: hosts{"api.internal:6443": s.pipes}}
				l := newPipes()
				var config *tls.Config
				if test.secure {
					config = &tls.Config{Certificates: []tls.Certificate{ca.pair("proxy.example.com")}, ClientAuth: tls.RequestClientCert}
				}
				proxy.serve(t, l, config)
				cert, key := ca.issue("admin")
				tr := testTransport(t, &Config{
					Server: "https://api.internal:6443", ServerName: "kubernetes.default.svc", CAData: ca.pem, CertData: cert, KeyData: key,
					ProxyURL: test.proxy, Dial: hosts{test.address: l}.dial,
				})
				for range 2 {
					if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != "HTTP/2.0 admin" {
						t.Errorf("the server saw %q, want admin over HTTP/2", got)
					}
				}
				if got := strings.Join(proxy.log, "\n"); got != test.want {
					t.Errorf("the proxy saw\n%s\nwant\n%s", got, test.want)
				}
			})
		})
	}
}

// The authority of a proxy that is spoken to over TLS may be replaced, as that of the server; while its file
// cannot be read, the last one counts.
func TestProxyAuthorityIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := newAuthority(t, "cluster"), newAuthority(t, "next")
		file := filepath.Join(t.TempDir(), "ca.crt")
		write := func(pem []byte) {
			if err := os.WriteFile(file, pem, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(old.pem)
		s := startTLS(t, old.pair("api.internal"), whoAmI)
		l := newPipes()
		proxy := &tls.Config{}
		var serving atomic.Pointer[tls.Certificate]
		proxy.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving.Load(), nil }
		serving.Store(new(old.pair("proxy")))
		(&tunnel{hosts: hosts{"api.internal:6443": s.pipes}}).serve(t, l, proxy)
		tr := testTransport(t, &Config{Server: "https://api.internal:6443", CAFile: file, ProxyURL: "https://proxy", DisableRetry: true, Dial: hosts{"proxy:443": l}.dial})
		ask := func() error {
			tr.close() // so that the proxy is connected to
			resp, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", ""))
			discard(resp)
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		serving.Store(new(next.pair("proxy")))
		if err := ask(); err == nil || !strings.Contains(err.Error(), "TLS with the proxy proxy:443") {
			t.Errorf("error = %v, want one about the proxy's certificate", err)
		}
		write(append(old.pem, next.pem...))
		if err := ask(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}

// A server without TLS behind a proxy: the proxy gets the whole request.
func TestProxyForPlainServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proxy, l := &tunnel{}, newPipes()
		proxy.serve(t, l, nil)
		tr := testTransport(t, &Config{Server: "http://api.internal", ProxyURL: "http://u:p@proxy:3128", Dial: hosts{"proxy:3128": l}.dial})
		if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != "forwarded" {
			t.Errorf("answer = %q", got)
		}
		if want := "GET http://api.internal/api Basic dTpw"; proxy.log[0] != want {
			t.Errorf("the proxy saw %q, want %q", proxy.log[0], want)
		}
	})
}

func TestProxyFailures(t *testing.T) {
	for _, test := range []struct{ name, proxy, want string }{
		{"proxy does not know the server", "http://proxy:3128", "Bad Gateway"},
		{"no such proxy", "http://other:3128", "no such host"},
		{"proxy is the server", "https://api.internal:6443", "the proxy https://api.internal:6443 is the API server itself"},
		{"proxy outside ASCII", "https://größe:443", "write it in its xn-- form"},
		{"proxy without TLS", "https://proxy:3128", "TLS with the proxy proxy:3128: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				proxy, l := &tunnel{}, newPipes()
				proxy.serve(t, l, nil)
				tr := testTransport(t, &Config{Server: "https://api.internal:6443", ProxyURL: test.proxy, DisableRetry: true, Dial: hosts{"proxy:3128": l}.dial})
				_, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", ""))
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error = %v, want %q", err, test.want)
				}
			})
		})
	}
}

func TestSOCKS5(t *testing.T) {
	for _, test := range []struct{ name, proxy, want string }{
		{"anonymous", "socks5://proxy:1080", "api.internal:6443"},
		{"with a password", "socks5://user:secret@proxy", "user:secret api.internal:6443"},
		{"name resolved by the proxy", "socks5h://proxy:1080", "api.internal:6443"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca := newAuthority(t, "cluster")
				s := startTLS(t, ca.pair("api.internal"), whoAmI)
				proxy := newPipes()
				saw := make(chan string, 1)
				done := make(chan struct{})
				go func() {
					defer close(done)
					serveSOCKS5(t, proxy, hosts{"api.internal:6443": s.pipes}, saw)
				}()
				t.Cleanup(func() {
					proxy.Close()
					<-done
				})
				tr := testTransport(t, &Config{Server: "https://api.internal:6443", CAData: ca.pem, ProxyURL: test.proxy, Dial: hosts{"proxy:1080": proxy}.dial})
				if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != "HTTP/2.0 nobody" {
					t.Errorf("the server saw %q", got)
				}
				if got := <-saw; got != test.want {
					t.Errorf("the proxy saw %q, want %q", got, test.want)
				}
				tr.close()
			})
		})
	}
}

// serveSOCKS5 serves one connection as RFC 1928 and 1929 say.
func serveSOCKS5(t *testing.T, l net.Listener, to hosts, saw chan<- string) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	r := bufio.NewReader(c)
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Error(err)
		}
		return b
	}
	methods := read(int(read(2)[1]))
	who := ""
	if strings.Contains(string(methods), "\x02") {
		c.Write([]byte{5, 2})
		user := read(int(read(2)[1]))
		password := read(int(read(1)[0]))
		who = string(user) + ":" + string(password) + " "
		c.Write([]byte{1, 0})
	} else {
		c.Write([]byte{5, 0})
	}
	name := read(int(read(5)[4]))
	address := fmt.Sprintf("%s:%d", name, binary.BigEndian.Uint16(read(2)))
	saw <- who + address
	server, err := to.dial(context.Background(), "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	join(c, server)
}

// The environment counts as the standard rules say. net/http reads it once in a process, so
// each case is a process of its own.
func TestProxyEnvironment(t *testing.T) {
	if server := os.Getenv("KUBE_TEST_PROXY_SERVER"); server != "" {
		printProxy(t, server)
		return
	}
	for _, test := range []struct {
		name   string
		env    map[string]string
		server string
		want   string
	}{
		{"nothing", nil, "https://api.example.com", "<nil>"},
		{"HTTPS_PROXY", map[string]string{"HTTPS_PROXY": "http://proxy:3128"}, "https://api.example.com", "http://proxy:3128"},
		{"lower case", map[string]string{"https_proxy": "socks5://proxy:1080"}, "https://api.example.com", "socks5://proxy:1080"},
		{"without a scheme", map[string]string{"HTTPS_PROXY": "proxy:3128"}, "https://api.example.com", "http://proxy:3128"},
		{"HTTP_PROXY is for http", map[string]string{"HTTP_PROXY": "http://proxy:3128"}, "https://api.example.com", "<nil>"},
		{"HTTP_PROXY", map[string]string{"HTTP_PROXY": "http://proxy:3128"}, "http://api.example.com", "http://proxy:3128"},
		{"localhost is never proxied", map[string]string{"HTTPS_PROXY": "http://proxy:3128"}, "https://127.0.0.1:6443", "<nil>"},
		{"NO_PROXY domain", map[string]string{"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "other, .example.com"}, "https://api.example.com", "<nil>"},
		{"NO_PROXY network", map[string]string{"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "10.0.0.0/8"}, "https://10.1.2.3:6443", "<nil>"},
		{"NO_PROXY other port", map[string]string{"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "10.1.2.3:443"}, "https://10.1.2.3:6443", "http://proxy:3128"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyEnvironment$", "-test.v")
			cmd.Env = []string{"KUBE_TEST_PROXY_SERVER=" + test.server}
			for name, value := range test.env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if want := "proxy: " + test.want + "\n"; !strings.Contains(string(out), want) {
				t.Errorf("got %s, want %s", out, want)
			}
		})
	}
}

func printProxy(t *testing.T, server string) {
	u := must(url.Parse(server))
	p, err := newProxies(&Config{}, u)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.forRequest(&http.Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("proxy: %v\n", got)
}

// A proxy-url of the kubeconfig has the last word.
func TestProxyURLBeatsEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://environment:3128")
	t.Setenv("NO_PROXY", "*")
	u := must(url.Parse("https://api.example.com"))
	p, err := newProxies(&Config{ProxyURL: "http://configured:3128"}, u)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.forRequest(&http.Request{URL: u}); err != nil || got.Host != "configured:3128" {
		t.Errorf("proxy = %v, %v", got, err)
	}
}
