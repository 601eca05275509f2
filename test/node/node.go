// Package node runs a stand-in for a node: the program of test/kubelet, whose containers are local
// processes behind the kubelet's own server. A kube-apiserver that is started with the flags of a
// [Node] reaches it for exec, attach, port-forward and logs of the pods that are bound to it.
//
// Nothing watches the API server for pods: a test creates a pod with [Node.Name] as its node, tells
// [Node.Run] to run it, and writes the status that a kubelet would write. The processes run as the
// user, on the machine's files and network; only holders of the node's own client certificate can
// start one.
package node

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-kube/kube/test/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExtendWebSockets is the feature of a node that takes websockets; for others the API server
// translates them into SPDY. See
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
const ExtendWebSockets = "ExtendWebSocketsToKubelet"

// stopWait is how long the program may take to end by itself.
const stopWait = 10 * time.Second

// Node is a running stand-in. Its methods may be called at the same time.
type Node struct {
	name  string
	dir   string
	url   *url.URL
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{}

	mu  sync.Mutex // an order and its answer at a time
	in  io.WriteCloser
	out *bufio.Reader
}

// Start builds the program if need be, and runs it under the name of a node. The context bounds
// the start alone; the program lasts until Close, and ends in any case with this process.
func Start(ctx context.Context, name string, logf func(format string, args ...any)) (*Node, error) {
	binary, err := apiserver.Program(ctx, "kubelet", logf)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kube-test-node-")
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	n := &Node{name: name, dir: dir, ended: make(chan struct{})}
	if err := n.start(binary); err != nil {
		return nil, fmt.Errorf("node: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return n, nil
}

func (n *Node) start(binary string) (err error) {
	if err := writeCertificates(n.dir); err != nil {
		return err
	}
	if n.log, err = os.Create(filepath.Join(n.dir, "kubelet.log")); err != nil {
		return err
	}
	n.cmd = exec.Command(binary, "-dir="+n.dir, "-client-ca="+n.file(caFile))
	n.cmd.Stderr = n.log
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	n.out = bufio.NewReader(out)
	line, err := n.out.ReadString('\n')
	if err != nil {
		n.in.Close()
		return errors.Join(fmt.Errorf("the program said nothing: %w", err), n.cmd.Wait())
	}
	go func() {
		n.cmd.Process.Wait()
		close(n.ended)
	}()
	n.url, err = url.Parse(strings.TrimSpace(line))
	return err
}

// Close ends the program with every process that it runs, and removes its files.
func (n *Node) Close() error {
	err := n.in.Close()
	select {
	case <-n.ended:
	case <-time.After(stopWait):
		err = errors.Join(err, fmt.Errorf("node: did not end within %v", stopWait), n.cmd.Process.Kill())
		<-n.ended
	}
	return errors.Join(err, n.log.Close(), os.RemoveAll(n.dir))
}

// Name is that of the node.
func (n *Node) Name() string { return n.name }

// URL is the address of the kubelet, for clients with the certificate of [Node.Certificate].
func (n *Node) URL() string { return n.url.String() }

// Logs is the path of the program's log.
func (n *Node) Logs() string { return n.log.Name() }

// Certificate returns the paths of a certificate and its key that the kubelet takes clients with.
func (n *Node) Certificate() (cert, key string) { return n.file(certFile), n.file(keyFile) }

// Flags are what kube-apiserver has to be started with to be let in.
func (n *Node) Flags() []string {
	return []string{
		"--kubelet-client-certificate=" + n.file(certFile),
		"--kubelet-client-key=" + n.file(keyFile),
		"--kubelet-preferred-address-types=InternalIP",
	}
}

// Object returns the node as it has to be in the API server: spec and status. The status has no
// features declared; a kubelet of this release would declare [ExtendWebSockets].
func (n *Node) Object() *corev1.Node {
	port, _ := strconv.Atoi(n.url.Port()) // it was listened on
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.name},
		Status: corev1.NodeStatus{
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.url.Hostname()}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
		},
	}
}

// order and answer are those of the program.
type order struct {
	Run   *corev1.Pod `json:"run,omitzero"`
	Stop  string      `json:"stop,omitzero"`
	Cut   bool        `json:"cut,omitzero"`
	Count bool        `json:"count,omitzero"`
}

type answer struct {
	Error       string `json:"error"`
	Dir         string `json:"dir"`
	Processes   int    `json:"processes"`
	Connections int    `json:"connections"`
}

func (n *Node) do(o order) (answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var a answer
	line, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return a, fmt.Errorf("node: the program has ended: %w", err)
	}
	line, err = n.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("node: the program has ended: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("node: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("node: %s", a.Error)
	}
	return a, nil
}

// Run starts the containers of a pod, by their commands; images are ignored. It returns the folder
// that has a folder for each container, by name, which is the working directory there.
func (n *Node) Run(pod *corev1.Pod) (dir string, err error) {
	a, err := n.do(order{Run: pod})
	return a.Dir, err
}

// Stop ends the containers of a pod, and returns when they have ended. Their logs stay.
func (n *Node) Stop(pod *corev1.Pod) error {
	_, err := n.do(order{Stop: pod.Namespace + "/" + pod.Name})
	return err
}

// Cut closes all connections to the kubelet, as happens to a node that loses its network.
func (n *Node) Cut() error {
	_, err := n.do(order{Cut: true})
	return err
}

// Count returns how many processes run, and how many connections to the kubelet are open.
func (n *Node) Count() (processes, connections int, err error) {
	a, err := n.do(order{Count: true})
	return a.Processes, a.Connections, err
}

func (n *Node) file(name string) string { return filepath.Join(n.dir, name) }
