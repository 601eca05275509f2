package apitest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
)

// recorder is a test that fails without ending the real one.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Helper()                           {}
func (r *recorder) end() []string {
	for _, f := range r.cleanups {
		f()
	}
	r.cleanups = nil
	return r.failures
}

// get requests a path and returns the status and the body.
func get(t *testing.T, srv *apitest.Server, path string) (int, string) {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", path, nil)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func inBubbles(t *testing.T, f func(t *testing.T, srv *apitest.Server, test *recorder)) {
	for name, opts := range map[string]*apitest.Options{"HTTP1": nil, "HTTP2": {HTTP2: true}, "protobuf": {Protobuf: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test := &recorder{TB: t}
				t.Cleanup(func() { test.end() })
				f(t, apitest.Start(test, opts), test)
			})
		})
	}
}

func TestExpectations(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server, test *recorder) {
		srv.Expect("GET /a?x=1&y=").JSON(200, "first")
		second := srv.Expect("GET /a").Times(2).JSON(200, "second")
		srv.Expect("GET /b").After(second).Status(429, metav1.StatusReasonTooManyRequests, "slow down", 3*time.Second)
		for _, step := range []struct {
			path string
			code int
			body string
		}{
			{"/a?x=2", 200, "second"},
			{"/a?x=1&y=2", 200, "second"},
			{"/a?x=1&z=2", 200, "first"},
			{"/b", 429, `"message":"slow down"`},
		} {
			if code, body := get(t, srv, step.path); code != step.code || !strings.Contains(body, step.body) {
				t.Errorf("GET %s: got %d %s, want %d %s", step.path, code, body, step.code, step.body)
			}
		}
		if n := second.Served(); n != 2 {
			t.Errorf("got %d served, want 2", n)
		}
		requests := srv.Requests()
		if len(requests) != 4 || requests[0].Path != "/a" || requests[0].Query.Get("x") != "2" {
			t.Errorf("got requests %v", requests)
		}
		if failures := test.end(); len(failures) > 0 {
			t.Errorf("the test failed: %v", failures)
		}
	})
}

func TestFailures(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server, test *recorder) {
		srv.Expect("GET /never").JSON(200, "")
		srv.Expect("GET /without")
		if code, _ := get(t, srv, "/unexpected"); code != http.StatusNotImplemented {
			t.Errorf("got status %d for an unexpected request, want 501", code)
		}
		failures := strings.Join(test.end(), "\n")
		for _, want := range []string{
			"unexpected request GET /unexpected",
			`the request "GET /never" did not come (1 more expected)`,
			`the expectation "GET /without" has no answer`,
		} {
			if !strings.Contains(failures, want) {
				t.Errorf("got failures\n%s\nwant one with %q", failures, want)
			}
		}
	})
}

func TestListAndWatch(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server, _ *recorder) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}, Data: map[string]string{"k": "v"}}
		srv.Expect("GET /api/v1/configmaps?limit=1").List("7", "more", object)
		list, err := srv.Client().All(core.ConfigMaps).List(t.Context(), &kube.ListOptions{Limit: 1})
		if err != nil || list.ResourceVersion != "7" || list.Continue != "more" || len(list.Items) != 1 || list.Items[0].Data["k"] != "v" {
			t.Fatalf("got list %+v, %v", list, err)
		}

		watch := srv.Expect("GET /api/v1/configmaps?watch=true").Watch()
		watch.Send("ADDED", object)
		watch.Bookmark("8")
		watch.InitialEventsEnd("9")
		watch.Error(410, metav1.StatusReasonExpired, "too old")
		var got []string
		for event, err := range srv.Client().All(core.ConfigMaps).Watch(t.Context(), nil) {
			switch {
			case err != nil:
				got = append(got, err.Error())
			default:
				got = append(got, fmt.Sprintf("%s@%s %t", event.Type, event.ResourceVersion, event.InitialEventsEnd))
			}
		}
		want := "ADDED@1 false, BOOKMARK@8 false, BOOKMARK@9 true, watch configmaps: too old"
		if strings.Join(got, ", ") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
		}
		synctest.Wait()
		if watch.Open() {
			t.Error("the watch is open after its loop has ended")
		}
	})
}

func TestNetwork(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server, _ *recorder) {
		srv.Expect("GET /a").Always().JSON(200, "x")
		get(t, srv, "/a")
		dials := srv.Network().Dials()

		srv.Network().Cut()
		synctest.Wait()
		get(t, srv, "/a") // over another connection
		if got := srv.Network().Dials(); got != dials+1 {
			t.Errorf("got %d dials, want %d", got, dials+1)
		}

		srv.Network().Refuse(true)
		srv.Network().Cut()
		synctest.Wait()
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "/a", nil)
		if resp, err := srv.Client().Do(req); err == nil {
			resp.Body.Close()
			t.Error("a refused connection works")
		} else if !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v, want connection refused", err)
		}
		srv.Network().Refuse(false)
		get(t, srv, "/a")
	})
}
