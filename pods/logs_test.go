package pods_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// The convention about the container that is meant is the clients'.
func TestDefaultContainer(t *testing.T) {
	two := func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "proxy"}, {Name: "app"}}
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "app"}
	}
	needed := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("container") == "" {
			refused(400, "BadRequest", "a container name must be specified for pod web, choose one of: [proxy app]")(w, r)
			return
		}
		fmt.Fprint(w, "log of "+r.URL.Query().Get("container")+"\n")
	}
	for _, test := range []struct {
		name string
		pod  http.HandlerFunc
		want string
	}{
		{"annotation", isPod(two), "log of app\n<nil>"},
		{"of none of its containers", isPod(two, func(p *corev1.Pod) { p.Spec.Containers[1].Name = "other" }), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
		{"no annotation", isPod(two, func(p *corev1.Pod) { p.Annotations = nil }), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
		{"pod cannot be read", refused(403, "Forbidden", "no"), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
	} {
		text, err := pods.Logs(t.Context(), serve(t, beside(test.pod, needed)), "web", nil)
		if got := text + fmt.Sprint(err); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	api := serve(t, beside(isPod(two), needed))
	var got []string
	for line, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
		got = append(got, fmt.Sprint(line.Text, err))
		break
	}
	if len(got) != 1 || got[0] != "log of app<nil>" {
		t.Error(got)
	}
}

func TestLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked string
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			io.WriteString(w, "one\ntwo\n")
		})
		text, err := pods.Logs(t.Context(), api, "web", nil)
		if err != nil || text != "one\ntwo\n" || asked != "/prefix/api/v1/namespaces/ns/pods/web/log" {
			t.Errorf("%q, %v, %s", text, err, asked)
		}
		_, err = pods.Logs(t.Context(), api, "web", &pods.LogOptions{Container: "c", Previous: true, Since: time.Minute, TailLines: new(int64(0)), LimitBytes: 9, Timestamps: true, InsecureBackend: true})
		if want := "container=c&insecureSkipTLSVerifyBackend=true&limitBytes=9&previous=true&sinceSeconds=60&tailLines=0&timestamps=true"; err != nil || !strings.HasSuffix(asked, "?"+want) {
			t.Errorf("%s, %v", asked, err)
		}
		for _, o := range []pods.LogOptions{{Follow: true}, {Since: time.Millisecond}, {LimitBytes: -1}, {TailLines: new(int64(-1))}, {Since: time.Second, SinceTime: time.Now()}} {
			if _, err := pods.Logs(t.Context(), api, "web", &o); err == nil || !strings.HasPrefix(err.Error(), "pods: ") {
				t.Errorf("%+v: %v", o, err)
			}
		}
	})
}

// A connection that is cut is opened again where it was, without a line twice or lost.
func TestFollowLogs(t *testing.T) {
	const second = "2030-01-01T00:00:0"
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		running := true
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/log") {
				state := corev1.ContainerState{}
				if running {
					state.Running = &corev1.ContainerStateRunning{}
				}
				pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
				pod.APIVersion, pod.Kind = "v1", "Pod"
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: state}}
				w.Header().Set("Content-Type", "application/json")
				json.NewEncoder(w).Encode(pod)
				return
			}
			asked = append(asked, r.URL.Query().Get("sinceTime")+" "+r.URL.Query().Get("tailLines"))
			switch len(asked) {
			case 1:
				io.WriteString(w, second+"1Z a\n"+second+"2Z b\n"+second+"2Z b\n"+second+"3Z half")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			case 2: // ends in a clean way while the container runs, as behind some proxies
				io.WriteString(w, second+"2Z b\n"+second+"2Z b\n"+second+"2Z b\n"+second+"3Z half and half\n")
			case 3:
				w.WriteHeader(500)
			case 4: // a clean end within a line, as when a kubelet goes down
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cu")
			case 5: // and once more
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cut")
			case 6: // the last line of a run has no line break, and the container starts again
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cut again\n"+second+"5Z last of a run")
			case 7:
				io.WriteString(w, second+"6Z first of a run")
			default:
				running = false
				io.WriteString(w, second+"6Z first of a run\n"+second+"7Z end")
			}
		})
		var got []string
		for line, err := range pods.FollowLogs(t.Context(), api, "web", &pods.LogOptions{TailLines: new(int64(3))}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line.Text)
		}
		if diff := cmp.Diff([]string{"a", "b", "b", "b", "half and half", "cut again", "last of a run", "first of a run", "end"}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{" 3", second + "2Z ", second + "3Z ", second + "3Z ", second + "3Z ", second + "3Z ", second + "4Z ", second + "5Z "}, asked); diff != "" {
			t.Error(diff)
		}
	})
}

// Who may read logs only cannot be told whether the container has ended: that is said, and not asked for ever.
func TestFollowLogsWithoutThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, beside(refused(403, "Forbidden", "pods is forbidden"), func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "2030-01-01T00:00:00Z all of it\n2030-01-01T00:00:01Z and the end")
		}))
		var got []string
		for line, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
			got = append(got, line.Text+fmt.Sprint(err))
		}
		if diff := cmp.Diff([]string{"all of it<nil>", "and the end<nil>", "get pods ns/web: pods is forbidden"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// The limit is for all connections together.
func TestFollowLogsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("limitBytes") {
				t.Errorf("the server is asked to count: %s", r.URL)
			}
			if n++; n == 1 {
				io.WriteString(w, "2030-01-01T00:00:01Z abc\n")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, "2030-01-01T00:00:01Z abc\n2030-01-01T00:00:02Z defg\n2030-01-01T00:00:03Z h\n")
		})
		for limit, want := range map[int64]string{3: "abc", 4: "abc", 6: "abc de", 8: "abc defg", 9: "abc defg", 10: "abc defg h"} {
			n = 0
			var got []string
			for line, err := range pods.FollowLogs(t.Context(), api, "web", &pods.LogOptions{LimitBytes: limit}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, line.Text)
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("limit %d: %q, want %q", limit, text, want)
			}
		}
	})
}

func TestFollowLogsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","message":"no such pod","code":404}`)
		})
		n := 0
		for _, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
			n++
			if !errors.Is(err, kube.ErrNotFound) {
				t.Errorf("error = %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d items", n)
		}
	})
}
