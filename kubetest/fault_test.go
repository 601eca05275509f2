package kubetest_test

import (
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

// mapsOf returns the ConfigMaps of a client that sends every request once.
func mapsOf(t *testing.T, srv *kubetest.Server) kube.API[corev1.ConfigMap] {
	t.Helper()
	cfg := srv.Config()
	cfg.DisableRetry = true
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client.Namespaced(core.ConfigMaps, "default")
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func mustCreate(t *testing.T, maps kube.API[corev1.ConfigMap], names ...string) (last *corev1.ConfigMap) {
	t.Helper()
	for _, name := range names {
		cm, err := maps.Create(context.Background(), configMap(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		last = cm
	}
	return last
}

func TestRequestFaults(t *testing.T) {
	inBubble := func(f func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap])) func(t *testing.T) {
		return func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := kubetest.Start(t, nil)
				f(t, srv, mapsOf(t, srv))
			})
		}
	}
	t.Run("refuse", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		fault := srv.Fault(kubetest.Match{Verbs: []string{"get"}, Resource: "configmaps", Times: 2},
			kubetest.Refuse(429, metav1.StatusReasonTooManyRequests, "slow down", 1500*time.Millisecond))
		for range 2 {
			_, err := maps.Get(t.Context(), "a")
			if wait, ok := kube.RetryAfter(err); !ok || wait != 2*time.Second || !strings.Contains(fmt.Sprint(err), "slow down") {
				t.Errorf("error %v, retry after %v", err, wait)
			}
		}
		if _, err := maps.Get(t.Context(), "a"); !errors.Is(err, kube.ErrNotFound) || fault.Count() != 2 {
			t.Errorf("after two times: %v, count %d", err, fault.Count())
		}
	}))
	t.Run("refuse only what matches", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		fault := srv.Fault(kubetest.Match{Resource: "configmaps", Namespace: "default", Name: "a", If: func(r kubetest.Request) bool { return r.Method == "GET" }},
			kubetest.Refuse(500, "", "", 0))
		mustCreate(t, maps, "a", "b")
		if _, err := maps.Get(t.Context(), "a"); err == nil {
			t.Error("no error")
		}
		if _, err := maps.Get(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		fault.Remove()
		if _, err := maps.Get(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}))
	t.Run("cut", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		srv.Fault(kubetest.Match{Verbs: []string{"create"}, Times: 1}, kubetest.Cut())
		if _, err := maps.Create(t.Context(), configMap("a"), nil); err == nil {
			t.Error("no error")
		}
		if _, err := maps.Get(t.Context(), "a"); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("it was done all the same: %v", err)
		}
	}))
	t.Run("lose", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		srv.Fault(kubetest.Match{Verbs: []string{"create"}, Times: 1}, kubetest.Lose())
		if _, err := maps.Create(t.Context(), configMap("a"), nil); err == nil {
			t.Error("no error")
		}
		if _, err := maps.Get(t.Context(), "a"); err != nil {
			t.Errorf("it was not done: %v", err)
		}
		if code := srv.Requests()[0].Code; code != 201 {
			t.Errorf("recorded code %d", code)
		}
	}))
	t.Run("delay", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		srv.Fault(kubetest.Match{}, kubetest.Delay(5*time.Second))
		start := time.Now()
		mustCreate(t, maps, "a")
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
	}))
	t.Run("conflict", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		cm := mustCreate(t, maps, "a")
		srv.Fault(kubetest.Match{Verbs: []string{"update", "get"}, Times: 1}, kubetest.Conflict())
		if _, err := maps.Replace(t.Context(), cm, nil); !errors.Is(err, kube.ErrConflict) {
			t.Errorf("error %v, want a conflict", err)
		}
		if _, err := maps.Replace(t.Context(), cm, nil); err != nil {
			t.Error(err)
		}
	}))
	t.Run("stale", inBubble(func(t *testing.T, srv *kubetest.Server, maps kube.API[corev1.ConfigMap]) {
		mustCreate(t, maps, "a", "b", "c")
		srv.Fault(kubetest.Match{}, kubetest.Stale(1))
		for _, test := range []struct {
			options *kube.ListOptions
			want    int
		}{
			{nil, 3},
			{&kube.ListOptions{ResourceVersion: "0"}, 2},
			{&kube.ListOptions{ResourceVersion: "1"}, 2},
		} {
			list, err := maps.List(t.Context(), test.options)
			if err != nil || len(list.Items) != test.want {
				t.Errorf("%+v: %d objects, %v; want %d", test.options, len(list.Items), err, test.want)
			}
		}
		if _, err := maps.Get(t.Context(), "c"); err != nil {
			t.Errorf("a consistent read is stale: %v", err)
		}
		var seen []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for ev, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: "0"}) {
			if err != nil {
				break
			}
			if ev.Type == kube.Bookmark {
				continue
			}
			seen = append(seen, ev.Object.Name())
			if len(seen) == 2 {
				mustCreate(t, maps, "d")
			}
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, seen); diff != "" {
			t.Errorf("a watch that is one change behind saw (-want +got):\n%s", diff)
		}
	}))
}

// watched starts a watch and returns a function that ends it and returns what it has seen.
func watched(t *testing.T, maps kube.API[corev1.ConfigMap]) func() (seen []string, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	var seen []string
	var failure error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: "0"}) {
			if err != nil {
				failure = err
				return
			}
			if ev.Type != kube.Bookmark {
				seen = append(seen, ev.Type.String()+" "+ev.Object.Name())
			}
		}
	}()
	synctest.Wait()
	return func() ([]string, error) {
		synctest.Wait()
		cancel()
		<-done
		return seen, failure
	}
}

func TestEventFaults(t *testing.T) {
	watches := []string{"watch"}
	for _, test := range []struct {
		name   string
		match  kubetest.Match
		action kubetest.Action
		want   []string
	}{
		{"drop", kubetest.Match{Verbs: watches, Times: 1}, kubetest.Drop(), []string{"ADDED b", "ADDED c"}},
		{"duplicate", kubetest.Match{Verbs: watches, Times: 1}, kubetest.Duplicate(), []string{"ADDED a", "ADDED a", "ADDED b", "ADDED c"}},
		{"reorder", kubetest.Match{Verbs: watches, Times: 1}, kubetest.Reorder(), []string{"ADDED b", "ADDED a", "ADDED c"}},
		{"cut after", kubetest.Match{Verbs: watches}, kubetest.CutAfter(2), []string{"ADDED a", "ADDED b"}},
		{"another kind", kubetest.Match{Verbs: watches, Resource: "secrets"}, kubetest.Drop(), []string{"ADDED a", "ADDED b", "ADDED c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := kubetest.Start(t, nil)
				maps := mapsOf(t, srv)
				end := watched(t, maps)
				srv.Fault(test.match, test.action)
				mustCreate(t, maps, "a", "b", "c")
				seen, _ := end()
				if diff := cmp.Diff(test.want, seen); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestDelayEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		end := watched(t, maps)
		srv.Fault(kubetest.Match{Verbs: []string{"watch"}}, kubetest.DelayEvents(time.Second))
		mustCreate(t, maps, "a", "b")
		time.Sleep(1500 * time.Millisecond)
		seen, _ := end()
		if diff := cmp.Diff([]string{"ADDED a"}, seen); diff != "" {
			t.Errorf("events after 1.5 s (-want +got):\n%s", diff)
		}
	})
}

func TestCutOpenWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		end := watched(t, maps)
		fault := srv.Fault(kubetest.Match{Verbs: []string{"watch"}, Resource: "configmaps", Times: 1}, kubetest.Cut())
		synctest.Wait()
		mustCreate(t, maps, "a")
		seen, err := end()
		if len(seen) > 0 || err == nil || errors.Is(err, context.Canceled) || fault.Count() != 1 {
			t.Errorf("events %v, error %v, count %d", seen, err, fault.Count())
		}
	})
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		old := mustCreate(t, maps, "a")
		last := mustCreate(t, maps, "b")
		end := watched(t, maps)
		srv.Stop()
		if _, err := end(); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("the watch was not cut: %v", err)
		}
		if _, err := maps.Get(t.Context(), "a"); err == nil {
			t.Error("a server that has stopped answers")
		}
		srv.Restart()
		if got, err := maps.Get(t.Context(), "a"); err != nil || got.ResourceVersion != old.ResourceVersion {
			t.Errorf("after the restart: %v, %v", got, err)
		}
		for _, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: old.ResourceVersion}) {
			if !errors.Is(err, kube.ErrExpired) {
				t.Errorf("a watch from before the restart: %v, want 410", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: last.ResourceVersion}) {
			if errors.Is(err, kube.ErrExpired) {
				t.Errorf("a watch that has missed nothing: %v", err)
			}
		}
	})
}

func TestCompact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		mustCreate(t, maps, "a", "b", "c")
		page, err := maps.List(t.Context(), &kube.ListOptions{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		mustCreate(t, maps, "d")
		srv.Compact()
		_, err = maps.List(t.Context(), &kube.ListOptions{Limit: 5, Continue: page.Continue})
		var refusal *kube.Error
		if !errors.Is(err, kube.ErrExpired) || !errors.As(err, &refusal) {
			t.Fatalf("a list from before: %v, want 410", err)
		}
		fresh, ok := kube.ContinueToken(err)
		if !ok {
			t.Fatalf("no fresh token: %+v", err)
		}
		rest, err := maps.List(t.Context(), &kube.ListOptions{Limit: 5, Continue: fresh})
		if err != nil || len(rest.Items) != 3 || rest.Items[0].Name != "b" {
			t.Errorf("the rest: %v, %v", rest, err)
		}
	})
}

func TestRequests(t *testing.T) {
	srv := kubetest.Start(t, nil)
	maps := mapsOf(t, srv)
	mustCreate(t, maps, "a")
	if _, err := maps.Get(t.Context(), "missing"); err == nil {
		t.Error("no error")
	}
	type short struct {
		Verb, Path string
		Code       int
		HasBody    bool
	}
	var got []short
	for _, r := range srv.Requests() {
		got = append(got, short{r.Verb, r.Path, r.Code, r.Body != nil})
	}
	if diff := cmp.Diff([]short{
		{"create", "/api/v1/namespaces/default/configmaps", 201, true},
		{"get", "/api/v1/namespaces/default/configmaps/missing", 404, false},
	}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	srv.ForgetRequests()
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were not forgotten", n)
	}
}
