// Command apiserver runs a real kube-apiserver with etcd on this machine, for tests and for
// people, by package github.com/go-kube/kube/test/apiserver.
//
//	apiserver [flags]                   runs it until ctrl-C
//	apiserver [flags] -- command args   runs it for as long as a command takes
//	apiserver -build [program ...]      builds it only, and programs of the tests, such as kubectl
//
// Without a command, the first line on standard output is the KUBECONFIG setting that makes
// kubectl and other clients use it. A command gets that setting, and the one that has the tests
// of this project use the server, in its environment; apiserver ends with its exit code.
//
// The flags are:
//
//	-kubeconfig FILE   also write the kubeconfig to FILE
//	-dir DIR           keep the data in DIR, and use what is there already
//	-port PORT         listen on this port of 127.0.0.1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-kube/kube/test/apiserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

type config struct {
	apiserver.Options
	kubeconfig string
	buildOnly  bool
	command    []string
}

func parseConfig() config {
	var cfg config
	flag.StringVar(&cfg.kubeconfig, "kubeconfig", "", "also write the kubeconfig to this `file`")
	flag.BoolVar(&cfg.buildOnly, "build", false, "build the server and the named programs, print their paths and end")
	flag.StringVar(&cfg.Dir, "dir", "", "keep the data in this `folder`, and use what is there already")
	flag.IntVar(&cfg.Port, "port", 0, "listen on this `port` of 127.0.0.1; 0 takes a free one")
	flag.Parse()
	cfg.command = flag.Args()
	return cfg
}

// run returns the exit code.
func run(ctx context.Context) (code int, err error) {
	cfg := parseConfig()
	if cfg.buildOnly {
		path, err := apiserver.Binary(ctx, nil)
		if err != nil {
			return 1, err
		}
		fmt.Println(path)
		for _, name := range cfg.command {
			if path, err = apiserver.Program(ctx, name, nil); err != nil {
				return 1, err
			}
			fmt.Println(path)
		}
		return 0, nil
	}
	server, err := apiserver.Start(ctx, &cfg.Options)
	if err != nil {
		return 1, err
	}
	code, err = serve(ctx, &cfg, server)
	if stopErr := server.Stop(); stopErr != nil {
		return max(code, 1), errors.Join(err, stopErr)
	}
	return code, err
}

func serve(ctx context.Context, cfg *config, server *apiserver.Server) (code int, err error) {
	path := server.Kubeconfig()
	if cfg.kubeconfig != "" {
		// The command may run in another folder.
		if path, err = filepath.Abs(cfg.kubeconfig); err != nil {
			return 1, err
		}
		if err := copyFile(path, server.Kubeconfig()); err != nil {
			return 1, err
		}
		defer os.Remove(path)
	}
	if len(cfg.command) > 0 {
		return runCommand(ctx, cfg.command, path)
	}
	fmt.Printf("export KUBECONFIG=%s\n", path)
	fmt.Fprintf(os.Stderr, "kube-apiserver %s at %s, log in %s; ctrl-C stops it\n",
		apiserver.Version, server.URL(), server.Logs())
	<-ctx.Done()
	return 0, nil
}

// runCommand runs a command beside the server. Ctrl-C reaches it from the terminal, so only
// SIGTERM is passed on.
func runCommand(ctx context.Context, args []string, kubeconfig string) (code int, err error) {
	if ctx.Err() != nil {
		return 1, context.Cause(ctx)
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, apiserver.SharedEnv+"="+kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("%s: %w", args[0], err)
	}
	return 0, nil
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
