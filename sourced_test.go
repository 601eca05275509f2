package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/kubeconfig"
	"github.com/google/go-cmp/cmp"
)

// tokens hands out t1, t2 and so on, each for life.
type tokens struct {
	life     time.Duration // zero: without an end
	delay    time.Duration
	fail     error
	n        atomic.Int32
	rejected []string
}

func (s *tokens) get(ctx context.Context, rejected *kubeconfig.Credential) (*kubeconfig.Credential, error) {
	s.rejected = append(s.rejected, "-")
	if rejected != nil {
		s.rejected[len(s.rejected)-1] = string(rejected.Token)
	}
	n := s.n.Add(1)
	time.Sleep(s.delay)
	if s.fail != nil {
		return nil, s.fail
	}
	c := &kubeconfig.Credential{Token: kubeconfig.Secret(fmt.Sprint("t", n))}
	if s.life != 0 {
		c.Expires = time.Now().Add(s.life)
	}
	return c, nil
}

func TestSourcedTokensAreRefreshedBeforeTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, g := &tokens{life: 10 * time.Minute}, &gate{}
		logger, log := logged()
		tr := testTransport(t, &Config{Transport: g, Credentials: source.get, Logger: logger})
		expect := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			do(t, tr, newRequest(t, tr, "GET", "/api", ""))
			if got := g.seen[len(g.seen)-1]; got != "Bearer "+want {
				t.Errorf("sent %q, want %q", got, want)
			}
		}
		if source.n.Load() != 0 {
			t.Error("asked before the first request")
		}
		expect(0, "t1")
		expect(9*time.Minute-time.Second, "t1")
		expect(time.Second, "t2")
		source.fail = errors.New("no network")
		expect(9*time.Minute, "t2")
		if !strings.Contains(log.String(), "no network") {
			t.Errorf("log:\n%s", log)
		}
		time.Sleep(time.Minute)
		if _, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "")); err == nil || err.Error() != "credentials: no network" {
			t.Errorf("error = %v", err)
		}
		source.fail = nil
		n := source.n.Load()
		expect(0, fmt.Sprint("t", n+1))
		if want := []string{"-", "t1", "t2", "t2", "t2"}; !cmp.Equal(source.rejected, want) {
			t.Errorf("rejected %v, want %v", source.rejected, want)
		}
	})
}

// A life of less than the margin does not mean a call for each request, nor does one that has
// ended already by our clock.
func TestSourcedTokensOfShortLife(t *testing.T) {
	for life, want := range map[time.Duration]int32{10 * time.Second: 2, -time.Hour: 12} {
		synctest.Test(t, func(t *testing.T) {
			source := &tokens{life: life}
			tr := testTransport(t, &Config{Transport: &gate{}, Credentials: source.get})
			for range 48 {
				do(t, tr, newRequest(t, tr, "GET", "/api", ""))
				time.Sleep(time.Second / 4)
			}
			if n := source.n.Load(); n != want {
				t.Errorf("life %s: asked %d times in 12 s, want %d", life, n, want)
			}
		})
	}
}

// However many requests are refused at once, the source is asked once.
func TestSourcedRefreshesOncePerRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &tokens{delay: time.Second}
		var mu sync.Mutex
		want, refused := "Bearer t1", 0
		tr := testTransport(t, &Config{Credentials: source.get, Transport: roundTripFunc(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			if req.Header.Get("Authorization") != want {
				refused++
				return answer(req, 401), nil
			}
			return answer(req, 200), nil
		})})
		burst := func() {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					if code, _ := do(t, tr, newRequest(t, tr, "GET", "/api", "")); code != 200 {
						t.Errorf("status %d", code)
					}
				})
			}
			wg.Wait()
		}
		burst()
		want = "Bearer t2"
		burst()
		if n := source.n.Load(); n != 2 || refused != 100 {
			t.Errorf("asked %d times for two credentials, %d refusals", n, refused)
		}
	})
}

// A request that is given up does not end a login that others may need.
func TestSourcedGoesOnWithoutItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &tokens{delay: 2 * time.Minute}
		tr := testTransport(t, &Config{Transport: &gate{}, Credentials: source.get})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "").WithContext(ctx))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for credentials") {
			t.Errorf("error = %v", err)
		}
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		if n := source.n.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// What went wrong beside reaches the log, and the token is used.
func TestSourcedWarnings(t *testing.T) {
	source := func(context.Context, *kubeconfig.Credential) (*kubeconfig.Credential, error) {
		return &kubeconfig.Credential{Token: "t1", Warning: errors.New("not written back")}, nil
	}
	logger, log := logged()
	g := &gate{}
	tr := testTransport(t, &Config{Transport: g, Credentials: source, Logger: logger})
	for range 2 {
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
	}
	if n := strings.Count(log.String(), "not written back"); n != 1 || g.seen[1] != "Bearer t1" {
		t.Errorf("told %d times, sent %q\n%s", n, g.seen, log)
	}
}

func TestSourcedErrors(t *testing.T) {
	cert := &kubeconfig.Credential{Certificate: []byte("a"), Key: []byte("b")}
	for _, test := range []struct {
		name string
		give *kubeconfig.Credential
		want string
	}{
		{"nothing", nil, "neither a token nor a certificate"},
		{"empty", &kubeconfig.Credential{}, "neither a token nor a certificate"},
		{"blank", &kubeconfig.Credential{Token: "a b"}, "the token is not a token: byte 1"},
		{"certificate for a transport", cert, "cannot be used: Config.Transport has connections of its own"},
	} {
		tr := testTransport(t, &Config{Transport: &gate{}, Credentials: func(context.Context, *kubeconfig.Credential) (*kubeconfig.Credential, error) {
			return test.give, nil
		}})
		if _, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error = %v", test.name, err)
		}
	}
	tr := testTransport(t, &Config{Transport: &gate{}, Credentials: func(context.Context, *kubeconfig.Credential) (*kubeconfig.Credential, error) { panic("oops") }})
	if _, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "")); err == nil || !strings.Contains(err.Error(), "panic: oops") {
		t.Errorf("error = %v", err)
	}
	_, err := newTransport(&Config{Server: "https://a", BearerToken: "b", Credentials: new(tokens).get})
	if err == nil || !strings.Contains(err.Error(), "both Credentials and a bearer token") {
		t.Errorf("error = %v", err)
	}
}

// Certificates that are handed out replace each other on the connections; one that the server
// refuses is asked for anew.
func TestSourcedCertificates(t *testing.T) {
	ca, clients, later := newAuthority(t, "ca"), newAuthority(t, "clients"), newAuthority(t, "later")
	l := loopback(t)
	srv := startTLSOn(t, l, ca.pair("host"), whoAmI)
	srv.use(func(s *tlsServer) { s.roots, s.need = poolOf(clients), tls.RequireAndVerifyClientCert })
	issuer, n := clients, 0
	tr := testTransport(t, &Config{
		Server: "https://host", CAData: ca.pem, Dial: dialTo(l),
		Credentials: func(context.Context, *kubeconfig.Credential) (*kubeconfig.Credential, error) {
			n++
			cert, key := issuer.issue(fmt.Sprint("user", n))
			return &kubeconfig.Credential{Certificate: cert, Key: key, Expires: time.Now().Add(time.Hour)}, nil
		},
	})
	expect := func(want string) {
		t.Helper()
		code, body := do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		if code != 200 || body != want {
			t.Errorf("status %d, the server saw %q, want %q", code, body, want)
		}
	}
	expect("HTTP/2.0 user1")
	expect("HTTP/2.0 user1")
	tr.inner.(*connections).creds.(*sourced).held.Load().refreshAt = time.Now()
	expect("HTTP/2.0 user2")
	srv.use(func(s *tlsServer) { s.roots = poolOf(later) })
	issuer = later
	tr.close()
	expect("HTTP/2.0 user3")
	if n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func poolOf(a *authority) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}
