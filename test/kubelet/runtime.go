package main

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// runtime runs the containers of pods.
type runtime struct {
	dir       string
	streams   streaming.Server
	processes processes

	mu         sync.Mutex
	pods       map[string]*pod       // by namespace/name
	containers map[string]*container // by id
}

type pod struct {
	spec       *v1.Pod
	containers map[string]*container // does not change
}

// container is a process with a log.
type container struct {
	id      string
	logPath string
	tty     bool
	output  *output
	stdin   io.WriteCloser // nil if it has none
	once    bool           // whether stdin ends with the first client
	resize  func(width, height uint16) error
	cmd     *exec.Cmd
	ended   chan struct{}
	err     error // once ended is closed
}

// newRuntime returns one whose streams are served at a free port of loopback, under addresses that
// nobody can guess and that are good for one use.
func newRuntime(dir string) (*runtime, error) {
	r := &runtime{dir: dir, pods: map[string]*pod{}, containers: map[string]*container{}}
	r.processes.running = map[*exec.Cmd]bool{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config := streaming.DefaultConfig
	config.Addr = l.Addr().String()
	config.BaseURL = &url.URL{Scheme: "http", Host: config.Addr, Path: "/"}
	if r.streams, err = streaming.NewServer(config, &streams{runtime: r}); err != nil {
		return nil, err
	}
	go (&http.Server{Handler: r.streams}).Serve(l)
	return r, os.MkdirAll(filepath.Join(dir, "logs"), 0o700)
}

// run starts the containers of a pod, and returns the folder with theirs.
func (r *runtime) run(spec *v1.Pod) (dir string, err error) {
	key := spec.Namespace + "/" + spec.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pods[key] != nil {
		return "", fmt.Errorf("pod %s runs already", key)
	}
	p := &pod{spec: spec, containers: map[string]*container{}}
	dir = filepath.Join(r.dir, "pods", spec.Namespace, spec.Name)
	for i := range spec.Spec.Containers {
		c, err := r.start(spec, &spec.Spec.Containers[i], dir)
		if err != nil {
			return "", fmt.Errorf("container %s of pod %s: %w", spec.Spec.Containers[i].Name, key, err)
		}
		p.containers[spec.Spec.Containers[i].Name] = c
		r.containers[c.id] = c
	}
	r.pods[key] = p
	return dir, nil
}

// stop ends the containers of a pod and waits for it.
func (r *runtime) stop(key string) error {
	r.mu.Lock()
	p := r.pods[key]
	r.mu.Unlock()
	if p == nil {
		return fmt.Errorf("pod %s does not run", key)
	}
	for _, c := range p.containers {
		kill(c.cmd)
		<-c.ended
	}
	return nil
}

func (r *runtime) stopAll() { r.processes.killAll() }

func (r *runtime) pod(namespace, name string) (*pod, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pods[namespace+"/"+name]
	if !ok {
		return nil, fmt.Errorf("pod %s/%s does not run here", namespace, name)
	}
	return p, nil
}

func (r *runtime) podByFullName(full string) (*pod, error) {
	name, namespace, err := kubecontainer.ParsePodFullName(full)
	if err != nil {
		return nil, err
	}
	return r.pod(namespace, name)
}

func (r *runtime) list() []*v1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*v1.Pod
	for _, key := range slices.Sorted(maps.Keys(r.pods)) {
		all = append(all, r.pods[key].spec)
	}
	return all
}

func (r *runtime) container(id string) (*container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[id]
	if !ok {
		return nil, fmt.Errorf("container %s does not run here", id)
	}
	return c, nil
}
