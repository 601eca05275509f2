package nodes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/nodes"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube", "github.com/go-kube/kube/resource", "github.com/go-kube/kube/kubeconfig",
		"github.com/go-kube/kube/internal/...", "github.com/go-kube/kube/k8s/...",
		"sigs.k8s.io/yaml/...", "k8s.io/api/...",
	)
}

// cluster is as much of an API server as a drain needs. A pod ends a second after its eviction.
type cluster struct {
	mu      sync.Mutex
	pods    []*corev1.Pod
	ends    map[string]time.Time
	blocked map[string]int // evictions to refuse
	refusal *metav1.Status // how; nil is by a budget
	blind   bool           // watching is not allowed
	away    int            // evictions that do not reach the server
	daemons []string
	log     []string
}

func (c *cluster) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := req.URL.Path
	parts := strings.Split(strings.Trim(path, "/"), "/")
	name := parts[len(parts)-1]
	switch {
	case req.Method == "PATCH":
		body, _ := io.ReadAll(req.Body)
		c.log = append(c.log, "patch "+name+" "+string(body))
		return answer(req, 200, &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}})
	case strings.HasSuffix(path, "/eviction") && c.away > 0:
		c.away--
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case strings.HasSuffix(path, "/eviction"):
		return c.evict(req, parts[len(parts)-2])
	case strings.Contains(path, "/daemonsets/"):
		if !slices.Contains(c.daemons, name) {
			return refuse(req, 404, "NotFound", name)
		}
		return answer(req, 200, map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": name, "uid": "uid-of-owner"}})
	case name == "pods" && req.URL.Query().Get("watch") == "true" && c.blind:
		return refuse(req, 403, "Forbidden", "watch")
	case name == "pods" && req.URL.Query().Get("watch") == "true":
		return answer(req, 200, nil) // ends at once: the pod is looked at again
	case name == "pods":
		c.log = append(c.log, "list "+req.URL.Query().Get("fieldSelector")+" "+req.URL.Query().Get("labelSelector"))
		return answer(req, 200, map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{}, "items": c.pods})
	}
	if end, ok := c.ends[name]; ok && !time.Now().Before(end) {
		return refuse(req, 404, "NotFound", name)
	}
	i := slices.IndexFunc(c.pods, func(p *corev1.Pod) bool { return p.Name == name })
	if req.Method == "DELETE" {
		c.log = append(c.log, "delete "+name)
		c.ends[name] = time.Now().Add(time.Second)
	}
	return answer(req, 200, c.pods[i])
}

func (c *cluster) evict(req *http.Request, name string) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	var eviction policyv1.Eviction
	if i := strings.Index(string(body), "Eviction\x12"); i >= 0 || strings.HasPrefix(string(body), "k8s\x00") {
		c.log = append(c.log, "evict "+name)
	} else if err := json.Unmarshal(body, &eviction); err != nil {
		return nil, err
	}
	if c.blocked[name] > 0 {
		c.blocked[name]--
		if c.refusal != nil {
			return answer(req, int(c.refusal.Code), c.refusal)
		}
		return refuse(req, 429, "TooManyRequests", "budget of "+name)
	}
	c.ends[name] = time.Now().Add(time.Second)
	return answer(req, 201, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}

func answer(req *http.Request, code int, body any) (*http.Response, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(data))), Request: req}, nil
}

func refuse(req *http.Request, code int, reason, message string) (*http.Response, error) {
	return answer(req, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message, "details": map[string]any{"name": message}})
}

func pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	p.Name, p.Namespace = name, "ns"
	p.UID = "uid-of-pod"
	ownedBy("ReplicaSet")(p)
	for _, f := range change {
		f(p)
	}
	return p
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "uid-of-owner", Controller: &yes}}
	}
}

func alone(p *corev1.Pod)    { p.OwnerReferences = nil }
func finished(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
func static(p *corev1.Pod)   { p.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"} }
func scratch(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
}

func (c *cluster) client(t *testing.T) *kube.Client {
	t.Helper()
	c.ends = map[string]time.Time{}
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: c})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCordon(t *testing.T) {
	c := &cluster{}
	client := c.client(t)
	if err := nodes.Cordon(t.Context(), client, "n"); err != nil {
		t.Error(err)
	}
	if err := nodes.Uncordon(t.Context(), client, "n"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{`patch n {"spec":{"unschedulable":true}}`, `patch n {"spec":{"unschedulable":null}}`}, c.log); diff != "" {
		t.Error(diff)
	}
}

func TestDrain(t *testing.T) {
	everything := nodes.DrainOptions{Force: true, IgnoreDaemonSets: true, DeleteEmptyDirData: true}
	for _, test := range []struct {
		name    string
		pod     *corev1.Pod
		opts    nodes.DrainOptions
		daemons []string
		blocked int
		want    string // what happens, or the error
		took    time.Duration
	}{
		{name: "plain", pod: pod("p"), want: "evicting gone", took: time.Second},
		{name: "deleted", pod: pod("p"), opts: nodes.DrainOptions{DisableEviction: true}, want: "evicting gone", took: time.Second},
		{name: "budget", pod: pod("p"), blocked: 2, want: "blocked blocked evicting gone", took: 11 * time.Second},
		{name: "budget and time", pod: pod("p"), blocked: 9, opts: nodes.DrainOptions{Timeout: 12 * time.Second, RetryInterval: 2 * time.Second}, took: 12 * time.Second, want: "not drained within 12s"},
		{name: "static", pod: pod("p", static), want: "skipped"},
		{name: "alone", pod: pod("p", alone), want: "pod ns/p has no controller"},
		{name: "alone, forced", pod: pod("p", alone), opts: nodes.DrainOptions{Force: true}, want: "evicting gone", took: time.Second},
		{name: "alone and finished", pod: pod("p", alone, scratch, finished), want: "evicting gone", took: time.Second},
		{name: "emptyDir", pod: pod("p", scratch), want: "pod ns/p has an emptyDir volume"},
		{name: "emptyDir, allowed", pod: pod("p", scratch), opts: everything, want: "evicting gone", took: time.Second},
		{name: "daemon", pod: pod("p", ownedBy("DaemonSet")), daemons: []string{"owner"}, want: "pod ns/p belongs to DaemonSet owner, which would make it again"},
		{name: "daemon, ignored", pod: pod("p", ownedBy("DaemonSet")), daemons: []string{"owner"}, opts: nodes.DrainOptions{IgnoreDaemonSets: true}, want: "skipped"},
		{name: "daemon without its set", pod: pod("p", ownedBy("DaemonSet")), opts: nodes.DrainOptions{IgnoreDaemonSets: true}, want: "belongs to DaemonSet owner, which is gone"},
		{name: "daemon without its set, forced", pod: pod("p", ownedBy("DaemonSet")), opts: everything, want: "evicting gone", took: time.Second},
		{name: "dry run", pod: pod("p"), opts: nodes.DrainOptions{DryRun: true}, want: "evicting"},
		{name: "bad grace", pod: pod("p"), opts: nodes.DrainOptions{GracePeriod: new(1500 * time.Millisecond)}, want: "Kubernetes counts whole seconds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cluster{pods: []*corev1.Pod{test.pod}, daemons: test.daemons, blocked: map[string]int{"p": test.blocked}}
				var steps []string
				test.opts.Progress = func(e nodes.Event) { steps = append(steps, string(e.Step)) }
				start := time.Now()
				err := nodes.Drain(t.Context(), c.client(t), "n", &test.opts)
				if took := time.Since(start); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				got := strings.Join(steps, " ")
				if err != nil {
					got = err.Error()
				}
				if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
					t.Errorf("%s\nwant %s", got, test.want)
				}
				if err != nil && test.took == 0 && strings.Contains(fmt.Sprint(c.log), "evict") {
					t.Errorf("evicted although the drain was refused: %v", c.log)
				}
				if patched := strings.Contains(fmt.Sprint(c.log), "unschedulable"); patched == (test.opts.DryRun || test.opts.GracePeriod != nil) {
					t.Errorf("cordoned: %t", patched)
				}
			})
		})
	}
}

// A server that is away for a moment does not end a drain.
func TestDrainOverAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: []*corev1.Pod{pod("p")}, away: 8}
		if err := nodes.Drain(t.Context(), c.client(t), "n", nil); err != nil || c.away != 0 {
			t.Errorf("%v; %d connections were not tried", err, c.away)
		}
	})
}

// What the server can never grant ends a drain at once, and what it fails to do after a while.
func TestDrainRefused(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason, message string) *metav1.Status {
		return &metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
			Code: code, Reason: reason, Message: message,
		}
	}
	// As the API server has it.
	twoBudgets := status(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	webhook := status(500, metav1.StatusReasonInternalError, "failed calling webhook")
	for _, test := range []struct {
		name    string
		refusal *metav1.Status
		blocked int
		want    string
		took    time.Duration
	}{
		{"two budgets", twoBudgets, 1, "more than one PodDisruptionBudget", 0},
		{"a webhook that comes back", webhook, 3, "", 16 * time.Second},
		{"a webhook that does not", webhook, 1000, "failed calling webhook", 50 * time.Second},
		{"no leader", status(503, metav1.StatusReasonServiceUnavailable, "no leader"), 1000, "no leader", 50 * time.Second},
		{"not allowed", status(403, metav1.StatusReasonForbidden, "cannot create pods/eviction"), 1, "cannot create pods/eviction", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cluster{pods: []*corev1.Pod{pod("p")}, blocked: map[string]int{"p": test.blocked}, refusal: test.refusal}
				start := time.Now()
				err := nodes.Drain(t.Context(), c.client(t), "n", nil)
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("error is %v, want %q", err, test.want)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

// Who drains need not have the right to watch.
func TestDrainWithoutWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: []*corev1.Pod{pod("p")}, blind: true}
		if err := nodes.Drain(t.Context(), c.client(t), "n", nil); err != nil {
			t.Error(err)
		}
	})
}
