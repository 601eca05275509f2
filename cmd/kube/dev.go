package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-kube/kube/kubetest"
)

// devConfig is what the flags of kube dev say.
type devConfig struct {
	port             int
	kubeconfig       string
	requests         bool
	crds, load, save string
}

func parseDev(args []string, log io.Writer) (*devConfig, error) {
	cfg := &devConfig{}
	flags := flag.NewFlagSet("kube dev", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprint(log, "Usage: kube dev [flags]\n\nServes a Kubernetes API in memory on 127.0.0.1 until ctrl-C. The first line on standard\noutput is the KUBECONFIG setting that makes kubectl and other clients use it.\n\n")
		flags.PrintDefaults()
	}
	flags.IntVar(&cfg.port, "port", 0, "listen on this `port`; 0 takes a free one")
	flags.StringVar(&cfg.kubeconfig, "kubeconfig", "", "write the kubeconfig to this `file`; without it, to a temporary one that goes at the end")
	flags.BoolVar(&cfg.requests, "requests", false, "tell each request in a line on standard error")
	flags.StringVar(&cfg.crds, "crds", "", "install the custom resource definitions in the YAML files of this `folder`")
	flags.StringVar(&cfg.load, "load", "", "create the objects in this YAML `file`, such as one that -save wrote")
	flags.StringVar(&cfg.save, "save", "", "write all objects to this YAML `file` in the end")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, errUsage // which flags has told
	case flags.NArg() > 0:
		fmt.Fprintf(log, "kube dev takes no arguments, only flags: %q\n", flags.Args())
		return nil, errUsage
	}
	return cfg, nil
}

// dev is kube dev: it serves an API in memory until ctx ends.
func dev(ctx context.Context, args []string, out, log io.Writer) (err error) {
	cfg, err := parseDev(args, log)
	if err != nil {
		return err
	}
	server, err := kubetest.NewServer(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := fill(ctx, server, cfg, log); err != nil {
		return err
	}
	l, identity, err := listen(cfg.port)
	if err != nil {
		return err
	}
	path, remove, err := writeKubeconfig(cfg.kubeconfig, "https://"+l.Addr().String(), identity)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer remove()
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", path)
	fmt.Fprintf(log, "Kubernetes %s in memory at https://%s; ctrl-C stops it\n", kubetest.KubernetesVersion, l.Addr())
	if err := serve(ctx, l, handlerOf(server, cfg, log)); err != nil {
		return err
	}
	if cfg.save != "" {
		return saveTo(cfg.save, server)
	}
	return nil
}

// fill creates what the flags name.
func fill(ctx context.Context, server *kubetest.Server, cfg *devConfig, log io.Writer) error {
	loader := &loader{client: server.Client()}
	if cfg.crds != "" {
		if err := loader.loadFolder(ctx, cfg.crds); err != nil {
			return err
		}
	}
	if cfg.load != "" {
		if err := loader.loadFile(ctx, cfg.load); err != nil {
			return err
		}
	}
	if loader.created > 0 {
		fmt.Fprintf(log, "%d objects created\n", loader.created)
	}
	return nil
}

// saveTo writes all objects. ctx has ended by then, and the work is in memory.
func saveTo(path string, server *kubetest.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	data, err := save(ctx, server.Client())
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return os.WriteFile(path, data, 0o600) // secrets are in it
}

func listen(port int) (net.Listener, *identity, error) {
	identity, err := newIdentity(time.Now())
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return &tlsListener{l, identity}, identity, err
}

// tlsListener carries the certificate to http.Server, which does TLS by itself so that it
// speaks HTTP/2.
type tlsListener struct {
	net.Listener
	identity *identity
}

// serve answers until ctx ends, and then gives requests a moment to finish: watches do not.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, TLSConfig: l.(*tlsListener).identity.serverConfig(), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(l, "", "") }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if server.Shutdown(patience) != nil {
		server.Close()
	}
	<-ended
	return nil
}

// writeKubeconfig writes the kubeconfig, and returns its path and what removes it if nobody
// asked for it by name.
func writeKubeconfig(path, url string, identity *identity) (string, func(), error) {
	remove := func() {}
	if path == "" {
		dir, err := os.MkdirTemp("", "kube-dev-")
		if err != nil {
			return "", remove, err
		}
		path, remove = filepath.Join(dir, "kubeconfig"), func() { os.RemoveAll(dir) }
	}
	path, err := filepath.Abs(path)
	if err == nil {
		err = os.WriteFile(path, identity.kubeconfig(url), 0o600)
	}
	if err != nil {
		remove()
	}
	return path, remove, err
}
