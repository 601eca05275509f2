package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/logs"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/kubernetes/pkg/kubelet/server"
)

// host is what the kubelet's server asks. It does what streams and logs need; a request for
// anything else of a node, as for its metrics, fails.
type host struct {
	server.HostInterface
	runtime *runtime
}

func (h *host) SyncLoopHealthCheck(*http.Request) error { return nil }

func (h *host) GetPodByName(namespace, name string) (*v1.Pod, bool) {
	p, err := h.runtime.pod(namespace, name)
	if err != nil {
		return nil, false
	}
	return p.spec, true
}

func (h *host) GetPods() []*v1.Pod { return h.runtime.list() }

// container finds one by what the kubelet's server calls it: name_namespace is the pod.
func (h *host) container(podFullName string, uid types.UID, name string) (*container, error) {
	p, err := h.runtime.podByFullName(podFullName)
	if err != nil {
		return nil, err
	}
	if uid != "" && uid != p.spec.UID {
		return nil, fmt.Errorf("pod %s has not the uid %s", podFullName, uid)
	}
	c, ok := p.containers[name]
	if !ok {
		return nil, fmt.Errorf("container not found (%q)", name)
	}
	return c, nil
}

func (h *host) GetExec(_ context.Context, podFullName string, uid types.UID, name string, cmd []string, opts remotecommand.Options) (*url.URL, error) {
	c, err := h.container(podFullName, uid, name)
	if err != nil {
		return nil, err
	}
	resp, err := h.runtime.streams.GetExec(&runtimeapi.ExecRequest{
		ContainerId: c.id, Cmd: cmd, Stdin: opts.Stdin, Stdout: opts.Stdout, Stderr: opts.Stderr, Tty: opts.TTY,
	})
	if err != nil {
		return nil, err
	}
	return url.Parse(resp.Url)
}

func (h *host) GetAttach(_ context.Context, podFullName string, uid types.UID, name string, opts remotecommand.Options) (*url.URL, error) {
	c, err := h.container(podFullName, uid, name)
	if err != nil {
		return nil, err
	}
	resp, err := h.runtime.streams.GetAttach(&runtimeapi.AttachRequest{
		ContainerId: c.id, Stdin: opts.Stdin, Stdout: opts.Stdout, Stderr: opts.Stderr, Tty: opts.TTY,
	})
	if err != nil {
		return nil, err
	}
	return url.Parse(resp.Url)
}

func (h *host) GetPortForward(_ context.Context, name, namespace string, _ types.UID, opts portforward.V4Options) (*url.URL, error) {
	if _, err := h.runtime.pod(namespace, name); err != nil {
		return nil, err
	}
	resp, err := h.runtime.streams.GetPortForward(&runtimeapi.PortForwardRequest{PodSandboxId: namespace + "/" + name, Port: opts.Ports})
	if err != nil {
		return nil, err
	}
	return url.Parse(resp.Url)
}

func (h *host) GetKubeletContainerLogs(ctx context.Context, podFullName, name string, o *v1.PodLogOptions, stdout, stderr io.Writer) error {
	c, err := h.container(podFullName, "", name)
	if err != nil {
		return err
	}
	if o.Previous {
		return fmt.Errorf("previous terminated container %q in pod %q not found", name, podFullName)
	}
	opts := &logs.LogOptions{TailLines: o.TailLines, LimitBytes: o.LimitBytes, Follow: o.Follow, Timestamp: o.Timestamps}
	switch {
	case o.SinceSeconds != nil:
		opts.Since = time.Now().Add(-time.Duration(*o.SinceSeconds) * time.Second)
	case o.SinceTime != nil:
		opts.Since = o.SinceTime.Time
	}
	return logs.ReadLogs(ctx, c.logPath, c.id, opts, &states{runtime: h.runtime}, stdout, stderr)
}
