// Command server runs kube-apiserver and etcd in one process, for tests.
//
//	server -dir DIR [-port PORT] [-remove-dir] -- [kube-apiserver flags]
//
// DIR is the working directory; etcd keeps its data and its sockets there. The server listens
// on 127.0.0.1 only, prints one line with its URL on standard output, and logs to standard
// error.
//
// It lives as long as its standard input: whoever starts it holds the other end of that pipe,
// and writes a line to have it stop. If the pipe is closed instead, the other process has died,
// however it did; then the server stops as well, and removes DIR if it was told so, because
// nobody else is left to do it. SIGINT and SIGTERM stop it too.
//
// This module is apart from the rest of the tests because it links all of Kubernetes; package
// github.com/go-kube/kube/test/apiserver builds and runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // time zones of CronJobs, on machines without a zone database
)

// stopTimeout bounds a graceful stop, which open watches would hold up for a minute. Nothing is
// lost by it: whatever was answered has been written.
const stopTimeout = time.Second

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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parent := watchParent()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-parent.done
		cancel()
	}()
	cleanUp := sync.OnceFunc(func() {
		if ctx.Err() != nil && cfg.removeDir && parent.isDead() {
			_ = os.RemoveAll(cfg.dir)
		}
	})
	context.AfterFunc(ctx, func() {
		time.AfterFunc(stopTimeout, func() {
			cleanUp()
			os.Exit(0)
		})
	})
	err = serve(ctx, cfg)
	cleanUp()
	return err
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
