// Command demo starts a Kubernetes API server, runs the operator of examples/webapp against
// it, and tells what happens step by step. It ends with "demo: ok", or with the first thing
// that went wrong and exit status 1.
//
// The server is kubetest, which is there at once, or with -server=real a kube-apiserver with
// etcd, whose first build takes some minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-kube/kube"
)

// limit bounds the whole demo, the first build of a real server included.
const limit = 25 * time.Minute

func main() {
	name := flag.String("server", "kubetest", "the API `server`: kubetest or real")
	keep := flag.Bool("keep", false, "leave the server up at the end, until interrupted")
	examples := flag.String("examples", "../examples", "folder of the examples module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *name, *examples, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "demo: failed:", err)
		os.Exit(1)
	}
	fmt.Println("demo: ok")
}

// teller prints what happens, with the time since the server was up.
type teller struct{ start time.Time }

func (t *teller) say(format string, args ...any) {
	fmt.Printf("%6.2fs  %s\n", time.Since(t.start).Seconds(), fmt.Sprintf(format, args...))
}

func run(ctx context.Context, name, examples string, keep bool) (err error) {
	t := &teller{time.Now()}
	work, err := os.MkdirTemp("", "kube-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	bounded, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took longer than %s", limit))
	defer cancel()

	t.say("building the operator in examples/webapp")
	binary := filepath.Join(work, "webapp")
	if err := buildOperator(bounded, examples, binary); err != nil {
		return err
	}
	server, err := startServer(bounded, name, work, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	t.start = time.Now()
	t.say("the API server is ready at %s", server.URL())

	cfg, err := kube.ConfigFromKubeconfig(server.Kubeconfig(), nil)
	if err != nil {
		return err
	}
	client, err := kube.NewClient(cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	d := newDemo(t, client, &operator{binary: binary, kubeconfig: server.Kubeconfig()})
	_, d.collects = server.(*memoryServer)
	err = d.play(bounded)
	if keep && err == nil {
		leaveUp(ctx, server)
	}
	return err
}

// leaveUp waits for the user, who works with the server meanwhile.
func leaveUp(ctx context.Context, server server) {
	fmt.Printf("\nThe server stays up until you press ctrl-C. In another terminal:\n\n    export KUBECONFIG=%s\n    kubectl get webapps -A\n\n", server.Kubeconfig())
	<-ctx.Done()
}
