package apiserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// ErrNotOwned is returned by the methods that start or stop a server, if another process has
// started it.
var ErrNotOwned = errors.New("the server belongs to another process")

// Server is a kube-apiserver. Its methods may be called at the same time.
type Server struct {
	url        string
	dir        string
	kubeconfig string
	creds      *credentials
	client     *http.Client

	// Zero if another process has started the server.
	binary  string
	options *Options
	remove  bool // whether Stop removes dir

	mu      sync.Mutex // guards the rest, and lets only one method start or stop the process
	process *process
	stopped bool // for good
}

// Start builds the server program if need be, runs it, and returns when the server is ready:
// it says so itself, and the namespace default exists. The context bounds the start alone.
// The server lasts until Stop, and ends in any case with the process that started it.
//
// An error of the start has the end of the server's log.
func Start(ctx context.Context, options *Options) (*Server, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	binary, err := Binary(ctx, o.Logf)
	if err != nil {
		return nil, err
	}
	s, err := newServer(binary, o)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("apiserver: %w", errors.Join(err, s.removeDir()))
	}
	return s, nil
}

// Attach returns the server that another process started and wrote the kubeconfig for. It can
// be used, but not stopped.
func Attach(ctx context.Context, kubeconfig string) (*Server, error) {
	path, err := filepath.Abs(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	address, dir, creds, err := readKubeconfig(path)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	s := &Server{url: address, dir: dir, kubeconfig: path, creds: creds}
	if s.client, err = newHTTPClient(creds); err != nil {
		return nil, fmt.Errorf("apiserver: %s: %w", path, err)
	}
	if err := s.waitReady(ctx, nil); err != nil {
		return nil, fmt.Errorf("apiserver: %s: %w", path, err)
	}
	return s, nil
}

func newServer(binary string, o *Options) (s *Server, err error) {
	s = &Server{dir: o.Dir, binary: binary, options: o}
	if o.Dir == "" {
		if s.dir, err = os.MkdirTemp("", "kube-test-"); err != nil {
			return nil, err
		}
		s.remove = true
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.removeDir())
		}
	}()
	s.kubeconfig = kubeconfigPath(s.dir)
	if s.creds, err = prepare(s.dir); err != nil {
		return nil, err
	}
	s.client, err = newHTTPClient(s.creds)
	return s, err
}

// start runs the process, on the port that it had before, if any.
func (s *Server) start(ctx context.Context) error {
	port := s.options.Port
	if s.url != "" {
		u, err := url.Parse(s.url)
		if err != nil {
			return err
		}
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return err
		}
	}
	args := []string{"-dir=" + s.dir, "-port=" + strconv.Itoa(port), "-remove-dir=" + strconv.FormatBool(s.remove), "--"}
	process, address, err := startProcess(ctx, s.binary, s.dir, s.Logs(), append(args, s.options.flags()...))
	if err != nil {
		return err
	}
	s.process = process
	if s.url == "" { // the same after a restart, and read without the lock
		s.url = address
	}
	err = s.waitReady(ctx, process)
	if err == nil {
		err = writeKubeconfig(s.kubeconfig, s.url, s.dir, s.creds)
	}
	if err != nil {
		process.kill()
		<-process.ended
	}
	return err
}

// Kill ends the server as a crash would, without giving it time for anything. Its data stays.
func (s *Server) Kill() error {
	return s.owned("kill", func() error {
		s.process.kill()
		<-s.process.ended
		return nil
	})
}

// Restart starts the server on the same port with the same data. If it runs, it is stopped
// first. Restart returns when it is ready; the context bounds that.
func (s *Server) Restart(ctx context.Context) error {
	return s.owned("restart", func() error {
		if s.stopped {
			return errors.New("it was stopped for good; Start another with the same Options.Dir to go on with its data")
		}
		if err := s.process.stop(); err != nil {
			return err
		}
		return s.start(ctx)
	})
}

// Stop stops the server for good and removes its folder, unless that was given by
// [Options.Dir]. It does nothing the second time.
func (s *Server) Stop() error {
	return s.owned("stop", func() error {
		s.stopped = true
		return errors.Join(s.process.stop(), s.removeDir())
	})
}

// owned calls f with the lock held, if this process has started the server.
func (s *Server) owned(verb string, f func() error) error {
	if s.options == nil {
		return fmt.Errorf("apiserver: cannot %s the server of %s: %w", verb, s.kubeconfig, ErrNotOwned)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(); err != nil {
		return fmt.Errorf("apiserver: %s: %w", verb, err)
	}
	return nil
}

func (s *Server) removeDir() error {
	if !s.remove {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// URL is the server's address, as in https://127.0.0.1:21234.
func (s *Server) URL() string { return s.url }

// Kubeconfig is the path of a kubeconfig for the server; the package comment lists its contexts.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// Logs is the path of the log of kube-apiserver and etcd. Restarts append to it.
func (s *Server) Logs() string { return filepath.Join(s.dir, "server.log") }

// CA is the certificate that signed the server's, in PEM.
func (s *Server) CA() []byte { return bytes.Clone(s.creds.ca) }

// AdminCert is a client certificate of the group system:masters, in PEM.
func (s *Server) AdminCert() []byte { return bytes.Clone(s.creds.adminCert) }

// AdminKey is the private key of AdminCert, in PEM.
func (s *Server) AdminKey() []byte { return bytes.Clone(s.creds.adminKey) }

// AdminToken is a bearer token of a user in the group system:masters.
func (s *Server) AdminToken() string { return s.creds.adminToken }

// NobodyToken is a bearer token of the user nobody, who has only the rights that every
// authenticated user has.
func (s *Server) NobodyToken() string { return s.creds.nobodyToken }

// IssueClient returns a certificate and its key, in PEM, that authenticate as a user in groups
// for a lifetime from now.
func (s *Server) IssueClient(user string, groups []string, lifetime time.Duration) (cert, key []byte, err error) {
	ca, err := readAuthority(s.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("apiserver: %w", err)
	}
	if cert, key, err = ca.issueClient(user, groups, lifetime); err != nil {
		return nil, nil, fmt.Errorf("apiserver: certificate for %s: %w", user, err)
	}
	return cert, key, nil
}

// HTTPClient returns a client of net/http that the server knows as its admin, for tests that
// must not depend on the library that they test.
func (s *Server) HTTPClient() *http.Client { return s.client }

func newHTTPClient(creds *credentials) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(creds.ca) {
		return nil, errors.New("the certificate authority is not a certificate in PEM")
	}
	cert, err := tls.X509KeyPair(creds.adminCert, creds.adminKey)
	if err != nil {
		return nil, fmt.Errorf("the admin's certificate: %w", err)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}},
		ForceAttemptHTTP2: true,
	}}, nil
}
