// Command server runs kube-apiserver and etcd in one process, for tests.
//
// It listens on 127.0.0.1 only, prints one line with its URL on standard output, logs to
// standard error, and lives as long as its standard input is open: whoever starts it holds the
// other end of that pipe, so it ends when they do, however they do. SIGINT and SIGTERM end it
// too.
//
//	server -dir DIR [-port PORT] [-remove-dir] -- [kube-apiserver flags]
//
// DIR is the working directory; etcd keeps its data and its socket there. This module is apart
// from the rest of the tests because it links all of Kubernetes; package
// github.com/go-kube/kube/test/apiserver builds and runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
	_ "time/tzdata" // time zones of CronJobs, on machines without a zone database
)

// stopTimeout bounds a graceful stop. Open watches would hold it for a minute otherwise.
const stopTimeout = 5 * time.Second

type config struct {
	dir       string
	port      int
	removeDir bool
	flags     []string // of kube-apiserver
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run() error {
	cfg, err := parseConfig()
	if err != nil {
		return err
	}
	if cfg.removeDir {
		defer os.RemoveAll(cfg.dir)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		// Nothing is ever sent: the read returns when the other end is closed.
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	context.AfterFunc(ctx, func() { exitLater(cfg) })
	return serve(ctx, cfg)
}

func parseConfig() (*config, error) {
	var cfg config
	flag.StringVar(&cfg.dir, "dir", "", "working directory, with etcd's data")
	flag.IntVar(&cfg.port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	flag.BoolVar(&cfg.removeDir, "remove-dir", false, "remove the working directory at the end")
	flag.Parse()
	cfg.flags = flag.Args()
	if cfg.dir == "" {
		return nil, fmt.Errorf("-dir is required")
	}
	dir, err := filepath.Abs(cfg.dir)
	if err != nil {
		return nil, err
	}
	cfg.dir = dir
	// The socket of etcd is named relative to it, because the path of a socket is limited to
	// about 100 bytes.
	return &cfg, os.Chdir(dir)
}

// serve runs etcd, then kube-apiserver, and stops them in reverse.
func serve(ctx context.Context, cfg *config) error {
	listener, err := listen(ctx, cfg.port)
	if err != nil {
		return err
	}
	defer listener.Close()
	etcd, err := startEtcd(ctx)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	if err := runAPIServer(ctx, listener, cfg.flags); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}

// exitLater ends the process if a graceful stop has not done so in time.
func exitLater(cfg *config) {
	time.AfterFunc(stopTimeout, func() {
		if cfg.removeDir {
			_ = os.RemoveAll(cfg.dir)
		}
		os.Exit(0)
	})
}
