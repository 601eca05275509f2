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
	"os/exec"
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
	command          []string // to run beside the server; the server ends with it
}

func parseDev(args []string, log io.Writer) (*devConfig, error) {
	cfg := &devConfig{}
	flags := flag.NewFlagSet("kube dev", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprint(log, "Usage: kube dev [flags] [-- COMMAND ARG...]\n\nServes a Kubernetes API in memory on 127.0.0.1 until ctrl-C. The first line on standard\noutput is the KUBECONFIG setting that makes kubectl and other clients use it.\n\nWith a command, it serves as long as the command runs, which gets that setting in its\nenvironment, and prints nothing of its own.\n\n")
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
	case flags.NArg() > 0 && (len(args) <= flags.NArg() || args[len(args)-flags.NArg()-1] != "--"):
		fmt.Fprintf(log, "kube dev takes flags, and a command behind --: %q is neither\n", flags.Arg(0))
		return nil, errUsage
	}
	cfg.command = flags.Args()
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
	if len(cfg.command) > 0 {
		err = serveCommand(ctx, l, handlerOf(server, cfg, log), cfg.command, path, out, log)
	} else {
		fmt.Fprintf(out, "export KUBECONFIG=%s\n", path)
		fmt.Fprintf(log, "Kubernetes %s in memory at https://%s; ctrl-C stops it\n", kubetest.KubernetesVersion, l.Addr())
		err = serve(ctx, l, handlerOf(server, cfg, log))
	}
	if cfg.save != "" {
		err = errors.Join(err, saveTo(cfg.save, server))
	}
	return err
}

// serveCommand serves as long as a command runs. Its failure is the error. Ctrl-C reaches the
// command from the terminal, so that only the end of ctx is passed on.
func serveCommand(ctx context.Context, l net.Listener, h http.Handler, command []string, kubeconfig string, out, log io.Writer) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- serve(serving, l, h) }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, log
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	stop()
	if err != nil {
		err = fmt.Errorf("%s: %w", command[0], err)
	}
	return errors.Join(err, <-served)
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
