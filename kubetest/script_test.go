package kubetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// failures is a test that remembers what fails.
type failures struct {
	testing.TB
	messages []string
	cleanups []func()
}

func (f *failures) Errorf(format string, args ...any) {
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

func (f *failures) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }

func (f *failures) finish() []string {
	for _, c := range f.cleanups {
		c()
	}
	return f.messages
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", ResourceVersion: "7"}}
}

func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := kubetest.StartScript(t)
		pods := script.Client().Namespaced(core.Pods, "default")
		gone := script.Expect("GET /api/v1/namespaces/default/pods/a").After(
			script.Expect("DELETE /api/v1/namespaces/default/pods/a").Object(200, &metav1.Status{Status: metav1.StatusSuccess}),
		).Status(404, metav1.StatusReasonNotFound, "gone", 0)
		script.Expect("GET /api/v1/namespaces/default/pods/a").Times(2).Object(200, pod("a"))
		script.Expect("GET /api/v1/namespaces/default/pods?limit=2&continue=").List("9", "more", pod("a"), pod("b"))
		script.Expect("GET /api/v1/namespaces/default/pods?limit=2&continue=more").List("9", "", pod("c"))
		script.Expect("POST /api/v1/namespaces/default/pods").Body(func(body []byte) error {
			if !bytes.Contains(body, []byte("new")) {
				return errors.New("no new pod")
			}
			return nil
		}).Status(429, metav1.StatusReasonTooManyRequests, "busy", time.Second)
		ctx := t.Context()

		var names []string
		for p, err := range pods.Each(ctx, &kube.ListOptions{Limit: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, p.Name)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		for range 2 {
			if p, err := pods.Get(ctx, "a"); err != nil || p.ResourceVersion != "7" {
				t.Errorf("got %v, %v", p, err)
			}
		}
		if _, err := pods.Create(ctx, pod("new"), nil); !strings.Contains(fmt.Sprint(err), "busy") {
			t.Errorf("error %v", err)
		}
		if err := pods.Delete(ctx, "a", nil); err != nil {
			t.Error(err)
		}
		if _, err := pods.Get(ctx, "a"); !errors.Is(err, kube.ErrNotFound) || gone.Served() != 1 {
			t.Errorf("after the deletion: %v, served %d", err, gone.Served())
		}
	})
}

func TestScriptWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := kubetest.StartScript(t)
		watch := script.Expect("GET /api/v1/namespaces/default/pods?watch=true").Times(2).Watch()
		watch.Added(pod("a"))
		watch.Modified(pod("a"))
		watch.Bookmark("8")
		watch.Deleted(pod("a"))
		watch.End()
		watch.InitialEventsEnd("9")
		watch.Error(410, metav1.StatusReasonExpired, "too old")
		pods := script.Client().Namespaced(core.Pods, "default")
		var got []string
		for range 2 {
			for ev, err := range pods.Watch(t.Context(), nil) {
				if err != nil {
					got = append(got, fmt.Sprint(errors.Is(err, kube.ErrExpired)))
					break
				}
				got = append(got, fmt.Sprintf("%s %s %t", ev.Type, ev.ResourceVersion, ev.InitialEventsEnd))
			}
		}
		if diff := cmp.Diff([]string{
			"ADDED 7 false", "MODIFIED 7 false", "BOOKMARK 8 false", "DELETED 7 false", "BOOKMARK 9 true", "true",
		}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestScriptFailures(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(s *kubetest.Script, pods kube.API[corev1.Pod])
		want []string
	}{
		{
			"a request that does not come",
			func(s *kubetest.Script, _ kube.API[corev1.Pod]) {
				s.Expect("GET /api/v1/pods").Object(200, pod("a"))
				s.Expect("GET /api/v1/pods").Always().Object(200, pod("a"))
			},
			[]string{`kubetest: the expected request "GET /api/v1/pods" did not come (1 more expected)`},
		},
		{
			"an unexpected request",
			func(_ *kubetest.Script, pods kube.API[corev1.Pod]) { pods.Get(context.Background(), "a") },
			[]string{"kubetest: unexpected request GET /api/v1/namespaces/default/pods/a"},
		},
		{
			"a request too many",
			func(s *kubetest.Script, pods kube.API[corev1.Pod]) {
				s.Expect("GET /api/v1/namespaces/default/pods/a").Object(200, pod("a"))
				pods.Get(context.Background(), "a")
				pods.Get(context.Background(), "a")
			},
			[]string{`kubetest: unexpected request GET /api/v1/namespaces/default/pods/a; it does not meet "GET /api/v1/namespaces/default/pods/a": it has been met as often as it may be`},
		},
		{
			"another parameter",
			func(s *kubetest.Script, pods kube.API[corev1.Pod]) {
				s.Expect("GET /api/v1/namespaces/default/pods?limit=5").Always().List("1", "")
				pods.List(context.Background(), &kube.ListOptions{Limit: 6})
			},
			[]string{`kubetest: unexpected request GET /api/v1/namespaces/default/pods?limit=6; it does not meet "GET /api/v1/namespaces/default/pods?limit=5": query parameter limit is "6", expected is "5"`},
		},
		{
			"too early",
			func(s *kubetest.Script, pods kube.API[corev1.Pod]) {
				first := s.Expect("GET /first").Always().Object(200, pod("a"))
				s.Expect("GET /api/v1/namespaces/default/pods/a").Always().After(first).Object(200, pod("a"))
				pods.Get(context.Background(), "a")
			},
			[]string{`kubetest: unexpected request GET /api/v1/namespaces/default/pods/a; it does not meet "GET /api/v1/namespaces/default/pods/a": what it comes after has not come`},
		},
		{
			"a wrong body",
			func(s *kubetest.Script, pods kube.API[corev1.Pod]) {
				s.Expect("POST /api/v1/namespaces/default/pods").Body(func([]byte) error { return errors.New("too plain") }).Object(201, pod("a"))
				pods.Create(context.Background(), pod("a"), nil)
			},
			[]string{"kubetest: the body of POST /api/v1/namespaces/default/pods: too plain"},
		},
		{
			"no answer",
			func(s *kubetest.Script, _ kube.API[corev1.Pod]) { s.Expect("GET /api/v1/pods") },
			[]string{`kubetest: the expected request "GET /api/v1/pods" has no answer`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &failures{TB: t}
			script := kubetest.StartScript(f)
			test.do(script, script.Client().Namespaced(core.Pods, "default"))
			if diff := cmp.Diff(test.want, f.finish()); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
		})
	}
}
