// Package pods_test runs what pods do beyond being objects through a real API server, to a stand-in
// for a node whose containers are local processes.
package pods_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/node"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster is an API server with one node.
type cluster struct {
	*apiserver.Server
	node *node.Node
}

// shared is that of this test binary.
var shared = sync.OnceValues(func() (c cluster, err error) {
	ctx := context.Background()
	if c.node, err = node.Start(ctx, "node-0", nil); err != nil {
		return c, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.node.Close())
		}
	}()
	if c.Server, err = apiserver.Start(ctx, &apiserver.Options{ExtraArgs: c.node.Flags()}); err != nil {
		return c, err
	}
	started = &c
	return c, c.register(ctx)
})

var started *cluster // what TestMain has to stop

func TestMain(m *testing.M) {
	code := m.Run()
	if started != nil {
		if err := errors.Join(started.Stop(), started.node.Close()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// oldNode is a second node, of the same kubelet, that the API server speaks SPDY to. To the first
// one it hands websockets through.
const oldNode = "node-old"

// register makes the nodes known.
func (c cluster) register(ctx context.Context) error {
	client, err := c.client(nil)
	if err != nil {
		return err
	}
	defer client.Close()
	now, old := c.node.Object(), c.node.Object()
	now.Status.DeclaredFeatures = []string{node.ExtendWebSockets}
	old.Name = oldNode
	api := client.All(core.Nodes)
	for _, object := range []*corev1.Node{now, old} {
		created, err := api.Create(ctx, object, nil) // without the status
		if err != nil {
			return err
		}
		created.Status = object.Status
		if _, err := api.Status().Replace(ctx, created, nil); err != nil {
			return err
		}
	}
	return nil
}

// onNodes runs a test for a pod on each node; put makes a pod one of that node's.
func onNodes(t *testing.T, test func(t *testing.T, put func(*corev1.Pod))) {
	t.Run("websockets", func(t *testing.T) { test(t, nil) })
	t.Run("translated", func(t *testing.T) { test(t, func(p *corev1.Pod) { p.Spec.NodeName = oldNode }) })
}

// client returns one of the admin's; change, if any, is applied to its configuration.
func (c cluster) client(change func(*kube.Config)) (*kube.Client, error) {
	cfg, err := kube.ConfigFromKubeconfig(c.Kubeconfig(), nil)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(cfg)
	}
	return kube.NewClient(cfg)
}

// fixture is a pod that runs.
type fixture struct {
	cluster
	client *kube.Client
	api    kube.API[corev1.Pod]
	pod    *corev1.Pod
	dir    string // has a folder for each container
}

// idle is a command that runs until it is ended.
const idle = "exec sleep 1000"

// run makes a pod with a container for each script of sh, called a, b, …, and runs it.
func run(t *testing.T, scripts ...string) *fixture {
	t.Helper()
	return runWith(t, nil, nil, scripts...)
}

func runWith(t *testing.T, config func(*kube.Config), change func(*corev1.Pod), scripts ...string) *fixture {
	t.Helper()
	if goruntime.GOOS != "linux" {
		t.Skip("the stand-in for a node, which is a kubelet, runs on Linux only")
	}
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	client, err := c.client(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0"},
		Spec:       corev1.PodSpec{NodeName: c.node.Name()},
	}
	for i, script := range scripts {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: string(rune('a' + i)), Image: "none", Command: []string{"sh", "-c", script},
		})
	}
	if change != nil {
		change(pod)
	}
	f := &fixture{cluster: c, client: client, api: client.Namespaced(core.Pods, c.NewNamespace(t))}
	if f.pod, err = f.api.Create(t.Context(), pod, nil); err != nil {
		t.Fatal(err)
	}
	if f.dir, err = c.node.Run(f.pod); err != nil {
		t.Fatalf("%v\n%s", err, f.nodeLog())
	}
	t.Cleanup(func() { c.node.Stop(f.pod) })
	f.report(t, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	return f
}

// report writes the status that a kubelet would.
func (f *fixture) report(t *testing.T, phase corev1.PodPhase, state corev1.ContainerState) {
	t.Helper()
	pod, err := f.api.Get(t.Context(), f.pod.Name)
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, State: state})
	}
	if _, err := f.api.Status().Replace(t.Context(), pod, nil); err != nil {
		t.Fatal(err)
	}
}

// stop ends the pod as its kubelet would.
func (f *fixture) stop(t *testing.T) {
	t.Helper()
	if err := f.node.Stop(f.pod); err != nil {
		t.Fatal(err)
	}
	f.report(t, corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
}

// nodeLog is the end of the node's log, for failures.
func (f *fixture) nodeLog() string {
	data, err := os.ReadFile(f.node.Logs())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(data), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
