package kubetest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
)

// serving is what answers connections.
type serving struct {
	handler http.Handler

	mu       sync.Mutex
	networks []*network
	servers  []*http.Server
	memory   *memory
	url      string      // of the plain listener on loopback
	secure   *secureSite // the one with TLS
	client   *kube.Client
	closed   bool
	running  sync.WaitGroup

	connections sync.WaitGroup
}

var errClosed = errors.New("kubetest: the server is closed")

// start answers the connections of a listener until the server is closed. The caller holds mu.
func (v *serving) start(l net.Listener) *network {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	n := newNetwork(l)
	server := &http.Server{Handler: v.handler, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0), ConnState: v.connState}
	v.networks, v.servers = append(v.networks, n), append(v.servers, server)
	v.running.Go(func() { server.Serve(n) })
	return n
}

// connState counts the connections, whose goroutines http.Server does not wait for.
func (v *serving) connState(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		v.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		v.connections.Done()
	}
}

// close ends all connections.
func (v *serving) close() {
	v.mu.Lock()
	networks, servers, client := v.networks, v.servers, v.client
	v.closed, v.networks, v.servers, v.client = true, nil, nil, nil
	v.mu.Unlock()
	if client != nil {
		client.Close()
	}
	for _, server := range servers {
		server.Close()
	}
	for _, n := range networks {
		n.Close()
		n.cut()
	}
}

// wait returns when nothing is left that answers connections. It is called after close, and
// after the end of the requests that are being answered.
func (v *serving) wait() {
	v.running.Wait()
	v.connections.Wait()
}

// each does something with every network.
func (v *serving) each(f func(n *network)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.networks {
		f(n)
	}
}

// dial connects in memory, whatever the address.
func (v *serving) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, refused(syscall.ECONNREFUSED)
	}
	if v.memory == nil {
		v.memory = newMemory()
		v.start(v.memory)
	}
	n, m := v.networks[0], v.memory
	v.mu.Unlock()
	if n.isDown() {
		return nil, refused(syscall.ECONNREFUSED)
	}
	return m.dial(ctx)
}

// Config returns a new configuration of a client. Its connections stay in memory, so that it
// can be used in a bubble of testing/synctest; a change of it concerns nobody else.
func (s *Server) Config() *kube.Config { return s.serving.config() }

func (v *serving) config() *kube.Config {
	return &kube.Config{Server: "http://kubetest.invalid", Dial: v.dial}
}

// Client returns a client with [Server.Config], the same one each time. It is closed with the
// server.
func (s *Server) Client() *kube.Client { return s.serving.sharedClient(s.Config()) }

// sharedClient returns the client of the server, which it makes with cfg when there is none.
func (v *serving) sharedClient(cfg *kube.Config) *kube.Client {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.client == nil {
		client, err := kube.NewClient(cfg)
		if err != nil {
			panic("kubetest: " + err.Error()) // the configuration is ours
		}
		v.client = client
	}
	return v.client
}

// Listen has the server answer on a free port of 127.0.0.1 too, without TLS, and returns the
// address to use, the same one each time. It fails when there is no port, and after Close.
func (s *Server) Listen() (url string, err error) {
	v := &s.serving
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return "", errClosed
	case v.url != "":
		return v.url, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("kubetest: %w", err)
	}
	v.start(l)
	v.url = "http://" + l.Addr().String()
	return v.url, nil
}

// secureSite is the listener with TLS.
type secureSite struct {
	url string
	ca  []byte // PEM
}

// ListenTLS has the server answer on an address of this machine too, such as 127.0.0.1:0, with
// a certificate of its own making, and returns a kubeconfig that has all that a client needs.
// It returns the same one each time, whatever the address. It fails when the address cannot be
// used, and after Close.
func (s *Server) ListenTLS(address string) (kubeconfig []byte, err error) {
	v := &s.serving
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errClosed
	}
	if v.secure == nil {
		if v.secure, err = v.listenTLS(address); err != nil {
			return nil, fmt.Errorf("kubetest: %w", err)
		}
	}
	return v.secure.kubeconfig()
}

func (v *serving) listenTLS(address string) (*secureSite, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		l.Close()
		return nil, err
	}
	ca, cert, err := newCertificates(host)
	if err != nil {
		l.Close()
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	v.start(tls.NewListener(l, config))
	return &secureSite{url: "https://" + l.Addr().String(), ca: ca}, nil
}

// kubeconfig returns the kubeconfig of the site.
func (t *secureSite) kubeconfig() ([]byte, error) {
	type object = map[string]any
	return yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "kubetest",
		"clusters": []object{{"name": "kubetest", "cluster": object{"server": t.url, "certificate-authority-data": t.ca}}},
		"users":    []object{{"name": "kubetest", "user": object{"token": "kubetest"}}},
		"contexts": []object{{"name": "kubetest", "context": object{"cluster": "kubetest", "user": "kubetest"}}},
	})
}

// URL is [Server.Listen] for tests: what fails ends the test. It needs a server of [Start].
func (s *Server) URL() string {
	t := s.testing("URL")
	t.Helper()
	url, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// Kubeconfig returns the path of a kubeconfig in a folder of the test, which is removed in the
// end. The server answers by TLS on a port of 127.0.0.1 then; see [Server.ListenTLS]. What
// fails ends the test. It needs a server of [Start].
func (s *Server) Kubeconfig() string {
	t := s.testing("Kubeconfig")
	t.Helper()
	data, err := s.ListenTLS("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
