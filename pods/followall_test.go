package pods_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func ended(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
}

var (
	isRunning = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	isWaiting = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
)

// stages is a pod that changes with time: the last stage whose time has come is what it is.
type stages []struct {
	from  time.Duration
	pod   func(*corev1.Pod) // nil is no pod
	lines map[string]string // the logs of its containers, in lines without a time
}

// serve answers as an API server and a kubelet. A log ends at once.
func (s stages) serve(t *testing.T) http.HandlerFunc {
	start := time.Now()
	return func(w http.ResponseWriter, r *http.Request) {
		now := s[0]
		for _, stage := range s {
			if time.Since(start) >= stage.from {
				now = stage
			}
		}
		if now.pod == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","message":"no such pod","code":404}`)
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/log") {
			pod := &corev1.Pod{}
			pod.APIVersion, pod.Kind, pod.Status.Phase = "v1", "Pod", corev1.PodRunning
			pod.Spec.Containers = []corev1.Container{{Name: "a"}}
			now.pod(pod)
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(pod)
			return
		}
		log, ok := now.lines[r.URL.Query().Get("container")]
		if !ok {
			badRequest(w, "the container is waiting to start")
			return
		}
		since, _ := time.Parse(time.RFC3339Nano, r.URL.Query().Get("sinceTime"))
		for i, text := range strings.Fields(log) {
			at := time.Date(2030, 1, 1, 0, 0, i, 0, time.UTC)
			if !at.Before(since) {
				fmt.Fprintln(w, at.Format(time.RFC3339Nano), text)
			}
		}
	}
}

// state is a pod whose container a has this state.
func state(s corev1.ContainerState, policy corev1.RestartPolicy) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.RestartPolicy = policy
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", State: s}}
	}
}

// followed is what comes of a pod, by container, and after how long the end came.
func followed(t *testing.T, s stages) (lines map[string]string, took time.Duration) {
	t.Helper()
	api := serve(t, s.serve(t))
	start, lines := time.Now(), map[string]string{}
	for line, err := range pods.FollowAllLogs(t.Context(), api, "web", nil) {
		if err != nil {
			line.Text = err.Error()
		}
		lines[line.Container] = strings.TrimSpace(lines[line.Container] + " " + line.Text)
	}
	return lines, time.Since(start)
}

// A container that runs again is followed into its next run, until its policy or the pod's end says
// that there is none.
func TestFollowAllLogsOverRestarts(t *testing.T) {
	first, both := map[string]string{"a": "1 2"}, map[string]string{"a": "1 2 3 4"}
	for _, test := range []struct {
		name   string
		stages stages
		want   string
		end    time.Duration // the earliest one
	}{
		{"always, until the pod is gone", stages{
			{0, state(ended(0), corev1.RestartPolicyAlways), first},
			{time.Second, state(isWaiting, corev1.RestartPolicyAlways), first},
			{3 * time.Second, state(isRunning, corev1.RestartPolicyAlways), both},
			{20 * time.Second, nil, nil},
		}, "1 2 3 4", 20 * time.Second},
		{"on failure, until it succeeds", stages{
			{0, state(ended(1), corev1.RestartPolicyOnFailure), first},
			{3 * time.Second, state(ended(0), corev1.RestartPolicyOnFailure), both},
		}, "1 2 3 4", 3 * time.Second},
		{"the log is away between two isRunning", stages{
			{0, state(ended(1), corev1.RestartPolicyAlways), first},
			{time.Second, state(isWaiting, corev1.RestartPolicyAlways), nil},
			{9 * time.Second, state(ended(0), corev1.RestartPolicyNever), both},
		}, "1 2 3 4", 9 * time.Second},
		{"never", stages{{0, state(ended(1), corev1.RestartPolicyNever), first}}, "1 2", 0},
		{"a policy of its own", stages{{0, func(pod *corev1.Pod) {
			state(ended(1), corev1.RestartPolicyAlways)(pod)
			pod.Spec.Containers[0].RestartPolicy = new(corev1.ContainerRestartPolicyNever)
		}, first}}, "1 2", 0},
		{"rules of its own", stages{
			{0, func(pod *corev1.Pod) {
				state(ended(42), corev1.RestartPolicyNever)(pod)
				pod.Spec.Containers[0].RestartPolicy = new(corev1.ContainerRestartPolicyNever)
				pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart}}
			}, first},
			{4 * time.Second, state(ended(0), corev1.RestartPolicyNever), both},
		}, "1 2 3 4", 4 * time.Second},
		{"a pod that is being deleted", stages{{0, func(pod *corev1.Pod) {
			state(ended(0), corev1.RestartPolicyAlways)(pod)
			pod.DeletionTimestamp = &pod.CreationTimestamp
			pod.DeletionTimestamp.Time = time.Now()
		}, first}}, "1 2", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines, took := followed(t, test.stages)
				if diff := cmp.Diff(map[string]string{"a": test.want}, lines); diff != "" {
					t.Error(diff)
				}
				if took < test.end || test.end == 0 && took > 0 {
					t.Errorf("it ended after %s, want %s and no sooner", took, test.end)
				}
			})
		})
	}
}

// An init container that succeeded is not waited for, one that stays beside the others is.
func TestFollowAllLogsOfInitContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := func(main, sidecar corev1.ContainerState) func(*corev1.Pod) {
			return func(pod *corev1.Pod) {
				state(main, corev1.RestartPolicyAlways)(pod)
				pod.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: ended(0)}, {Name: "sidecar", State: sidecar}}
			}
		}
		lines, took := followed(t, stages{
			{0, pod(isWaiting, ended(0)), map[string]string{"init": "i", "sidecar": "s"}},
			{4 * time.Second, pod(isRunning, isRunning), map[string]string{"init": "i no", "sidecar": "s t", "a": "1"}},
			{30 * time.Second, nil, nil},
		})
		if diff := cmp.Diff(map[string]string{"init": "i", "sidecar": "s t", "a": "1"}, lines); diff != "" || took < 30*time.Second {
			t.Errorf("after %s: %s", took, diff)
		}
	})
}

// An ephemeral container that is added later is seen, and its end is for good.
func TestFollowAllLogsSeesEphemeralContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		with := func(s corev1.ContainerState) func(*corev1.Pod) {
			return func(pod *corev1.Pod) {
				state(isRunning, corev1.RestartPolicyAlways)(pod)
				pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
				pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug", State: s}}
			}
		}
		lines, took := followed(t, stages{
			{0, state(isRunning, corev1.RestartPolicyAlways), map[string]string{"a": "1"}},
			{10 * time.Second, with(isWaiting), map[string]string{"a": "1"}},
			{20 * time.Second, with(isRunning), map[string]string{"a": "1", "debug": "d"}},
			{40 * time.Second, with(ended(1)), map[string]string{"a": "1 2", "debug": "d e"}},
			{60 * time.Second, with(ended(1)), map[string]string{"a": "1 2 3", "debug": "d e no"}},
			{90 * time.Second, nil, nil},
		})
		if diff := cmp.Diff(map[string]string{"a": "1 2 3", "debug": "d e"}, lines); diff != "" || took < 90*time.Second {
			t.Errorf("after %s: %s", took, diff)
		}
	})
}

// podOf is a server's answer for a pod with an init container and two more.
func podOf(w http.ResponseWriter, phase corev1.PodPhase, states map[string]corev1.ContainerState) {
	pod := &corev1.Pod{}
	pod.APIVersion, pod.Kind, pod.Status.Phase = "v1", "Pod", phase
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	pod.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	for _, name := range []string{"init", "a", "b"} {
		status := corev1.ContainerStatus{Name: name, State: states[name]}
		if name == "init" {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		} else {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(pod)
}

func badRequest(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(400)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","message":%q,"code":400}`, message)
}

// The ordinary containers are waited for while the init container runs, and one that cannot be read
// stops none of the others.
func TestFollowAllLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		start := time.Now()
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			waits := time.Since(start) < 3*time.Second
			if !strings.HasSuffix(r.URL.Path, "/log") {
				waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
				if waits {
					podOf(w, corev1.PodPending, map[string]corev1.ContainerState{"init": ended, "a": waiting, "b": waiting})
				} else {
					podOf(w, corev1.PodSucceeded, map[string]corev1.ContainerState{"init": ended, "a": ended, "b": ended})
				}
				return
			}
			switch container := r.URL.Query().Get("container"); {
			case container == "init":
				io.WriteString(w, "2030-01-01T00:00:01Z first\n")
			case waits:
				badRequest(w, "is waiting to start: PodInitializing")
			case container == "a":
				io.WriteString(w, "2030-01-01T00:00:02Z second\n2030-01-01T00:00:03Z third\n")
			default:
				badRequest(w, "has no log")
			}
		})
		got := map[string][]string{}
		for line, err := range pods.FollowAllLogs(t.Context(), api, "web", nil) {
			if err != nil {
				line.Text = err.Error()
			}
			got[line.Container] = append(got[line.Container], line.Text)
		}
		want := map[string][]string{"init": {"first"}, "a": {"second", "third"}, "b": {"get pods/log ns/web: has no log"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFollowAllLogsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/log") {
				podOf(w, corev1.PodRunning, map[string]corev1.ContainerState{"init": running, "a": running, "b": running})
				return
			}
			io.WriteString(w, "2030-01-01T00:00:01Z line\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var errs []error
		n := 0
		for _, err := range pods.FollowAllLogs(ctx, api, "web", nil) {
			if err != nil {
				errs = append(errs, err)
			} else if n++; n == 3 {
				cancel()
			}
		}
		if n != 3 || len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("%d lines, errors %v; want the context's once", n, errs)
		}
		for range pods.FollowAllLogs(t.Context(), api, "web", nil) {
			break // the sequence waits for its goroutines, or the bubble does not end
		}
		for _, err := range pods.FollowAllLogs(t.Context(), api, "web", &pods.LogOptions{Container: "a"}) {
			if err == nil || !strings.Contains(err.Error(), `Container is "a"`) {
				t.Errorf("with a container: %v", err)
			}
		}
	})
}

func orNil(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}
