package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// Kubelet reaches pods at the kubelet of their node, without an API server between: for what has to
// work while that is away. Its client is one whose configuration has the kubelet's address, as in
// https://10.0.0.7:10250, and credentials that the kubelet accepts. See
// https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/
//
// It does what the functions of the same names do, for pods that run on the node. The kubelet knows
// no default container: the options have to name one.
type Kubelet struct {
	client *kube.Client
}

// NewKubelet returns the kubelet that client has the address of.
func NewKubelet(client *kube.Client) Kubelet { return Kubelet{client} }

// KubeletPod says which pod.
type KubeletPod struct {
	// Namespace and Name are the pod's.
	Namespace string
	Name      string
	// UID, if set, has to be the pod's. It makes sure that it is not one that has taken its place.
	// Kubelets do not look at it for logs, where it is an error.
	UID types.UID
}

// Exec runs a command in a container, see [Exec].
func (k Kubelet) Exec(ctx context.Context, pod KubeletPod, command []string, opts *ExecOptions) error {
	return exec(ctx, onNode{k.client, pod}, command, opts)
}

// Attach connects to the process of a container, see [Attach].
func (k Kubelet) Attach(ctx context.Context, pod KubeletPod, opts *AttachOptions) error {
	return attach(ctx, onNode{k.client, pod}, opts)
}

// Dial connects to a port of a pod, see [Dial].
func (k Kubelet) Dial(ctx context.Context, pod KubeletPod, port uint16) (net.Conn, error) {
	c, err := dialPort(ctx, onNode{k.client, pod}, port)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Forward leads local ports to ports of a pod, see [Forward]. A pod that is not there is an error of
// each connection.
func (k Kubelet) Forward(ctx context.Context, pod KubeletPod, ports []Port, opts *ForwardOptions) error {
	o := ForwardOptions{}
	if opts != nil {
		o = *opts
	}
	return o.forward(ctx, onNode{k.client, pod}, k.client, ports)
}

// Logs returns the log of a container, see [Logs].
func (k Kubelet) Logs(ctx context.Context, pod KubeletPod, opts *LogOptions) (string, error) {
	return logs(ctx, onNode{k.client, pod}, opts)
}

// LogStream returns the log of a container as it arrives, see [LogStream].
func (k Kubelet) LogStream(ctx context.Context, pod KubeletPod, opts *LogOptions) (io.ReadCloser, error) {
	return logStream(ctx, onNode{k.client, pod}, opts)
}

// onNode is a pod at its kubelet.
type onNode struct {
	client *kube.Client
	pod    KubeletPod
}

func (n onNode) String() string { return n.pod.Namespace + "/" + n.pod.Name }

func (n onNode) open(ctx context.Context, d *resource.SubresourceDescriptor, query url.Values, header http.Header) (*http.Response, error) {
	path, query, err := n.address(d.Name, query)
	if err != nil {
		return nil, err
	}
	u := &url.URL{Path: path, RawQuery: query.Encode()}
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: header.Clone()}).WithContext(kube.WithoutRetry(ctx))
	if req.Header == nil {
		req.Header = http.Header{}
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return nil, n.fail(d, err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols || header.Get("Upgrade") == "" && resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, statusLimit)) // kubelets answer in plain text
	if err != nil {
		return nil, n.fail(d, err)
	}
	refusal := apierrors.NewGenericServerResponse(resp.StatusCode, "get", corev1.Resource("pods"), n.pod.Name, string(text), 0, true)
	if message := strings.TrimSpace(string(text)); message != "" {
		refusal.ErrStatus.Message = message
	}
	return nil, n.fail(d, refusal)
}

func (n onNode) fail(d *resource.SubresourceDescriptor, err error) error {
	return &kube.Error{Verb: "get", Resource: "pods/" + d.Name, Namespace: n.pod.Namespace, Name: n.pod.Name, Err: err}
}

// kubeletNames are those that differ from the API server's. Kubelets want 1 for true there.
var kubeletNames = map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}

// address returns where the kubelet has what the API server has as a subresource of the pod.
func (n onNode) address(subresource string, query url.Values) (path string, _ url.Values, err error) {
	if n.pod.Namespace == "" || n.pod.Name == "" {
		return "", nil, fmt.Errorf("pods: KubeletPod has the namespace %q and the name %q; both are needed", n.pod.Namespace, n.pod.Name)
	}
	if query.Has("insecureSkipTLSVerifyBackend") {
		return "", nil, errors.New("pods: InsecureBackend is for API servers; for a kubelet it is Config.Insecure")
	}
	container := query.Get("container")
	q := url.Values{}
	for name, values := range query {
		switch theirs, differs := kubeletNames[name]; {
		case differs:
			q.Set(theirs, "1")
		case name == "ports":
			q["port"] = values
		case name != "container":
			q[name] = values
		}
	}
	elements := []string{n.pod.Namespace, n.pod.Name}
	if n.pod.UID != "" {
		elements = append(elements, string(n.pod.UID))
	}
	base := map[string]string{"log": "/containerLogs", "portforward": "/portForward"}[subresource]
	switch {
	case subresource == "portforward":
	case container == "":
		return "", nil, errors.New("pods: a kubelet knows no default container; name it by Container")
	case subresource == "log" && n.pod.UID != "":
		return "", nil, errors.New("pods: a kubelet does not look at the UID for logs; leave KubeletPod.UID empty")
	default:
		elements = append(elements, container)
	}
	if base == "" {
		base = "/" + subresource
	}
	for _, e := range elements {
		base += "/" + e
	}
	return base, q, nil
}
