// Command kubelet stands in for a node, for tests: the kubelet's own HTTP server and the streaming
// library of container runtimes, over containers that are local processes.
//
//	kubelet -dir DIR -client-ca FILE
//
// It serves exec, attach, portForward and containerLogs by TLS on a free port of 127.0.0.1, to
// clients with a certificate that FILE signed and to nobody else, since they may run any command.
// The first line on standard output is the address. The processes share the machine's files and
// network; each starts in a folder of its own below DIR.
//
// Whoever starts it says by lines of JSON on standard input what to do, see [order], and gets a
// line of JSON for each, see [answer]. When standard input ends so does the program, with every
// process that it has started.
//
// This module is apart from the rest of the tests because it links the kubelet.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/server"
)

// order is what a line of standard input asks for: one of its fields.
type order struct {
	// Run starts the containers of a pod.
	Run *v1.Pod `json:"run,omitempty"`
	// Stop ends those of the pod, given as namespace/name. Their logs stay.
	Stop string `json:"stop,omitempty"`
	// Cut closes every connection that is open, as a node does that loses its network.
	Cut bool `json:"cut,omitempty"`
	// Count asks for the number of processes and connections.
	Count bool `json:"count,omitempty"`
}

// answer is about one order.
type answer struct {
	// Error says what went wrong, if anything.
	Error string `json:"error,omitempty"`
	// Dir is where the containers of the pod that runs have their folders, by their names.
	Dir string `json:"dir,omitempty"`
	// Processes counts those of containers and of exec that run, and Connections those from
	// clients.
	Processes   int `json:"processes"`
	Connections int `json:"connections"`
}

func main() {
	dir := flag.String("dir", "", "where containers and logs have their files")
	ca := flag.String("client-ca", "", "certificates of the authorities of clients")
	flag.Parse()
	if *dir == "" || *ca == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*dir, *ca); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

func run(dir, ca string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	config, err := serving(ca)
	if err != nil {
		return err
	}
	runtime, err := newRuntime(dir)
	if err != nil {
		return err
	}
	defer runtime.stopAll()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	listener := &countingListener{Listener: l, open: map[net.Conn]bool{}}
	ctx := klog.NewContext(context.Background(), klog.Background())
	handler := server.NewServer(ctx, &host{runtime: runtime}, nil, nil, nil, nil,
		&kubeletconfig.KubeletConfiguration{EnableDebuggingHandlers: true})
	srv := &http.Server{Handler: &handler, TLSConfig: config}
	go srv.ServeTLS(listener, "", "")
	fmt.Printf("https://%s\n", l.Addr())
	return obey(os.Stdin, os.Stdout, runtime, listener)
}

// obey does what the lines of r ask for until they end.
func obey(r io.Reader, w io.Writer, runtime *runtime, listener *countingListener) error {
	lines := json.NewDecoder(bufio.NewReader(r))
	out := json.NewEncoder(w)
	for {
		var o order
		if err := lines.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading orders: %w", err)
		}
		a, err := do(o, runtime, listener)
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func do(o order, runtime *runtime, listener *countingListener) (answer, error) {
	switch {
	case o.Run != nil:
		dir, err := runtime.run(o.Run)
		return answer{Dir: dir}, err
	case o.Stop != "":
		return answer{}, runtime.stop(o.Stop)
	case o.Cut:
		listener.cut()
		return answer{}, nil
	case o.Count:
		return answer{Processes: runtime.processes.count(), Connections: listener.count()}, nil
	}
	return answer{}, errors.New("the order is empty")
}
