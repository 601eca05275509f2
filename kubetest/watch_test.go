package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/coordination"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// TestBookmarks checks when bookmarks come, every minute and shortly before the end, and that
// each has the version that the server is at, whoever has made it.
func TestBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps, secrets := mapsOf(t, srv), srv.Client().Namespaced(core.Secrets, "default")
		start := time.Now()
		first := mustCreate(t, maps, "a")
		var others sync.WaitGroup
		others.Go(func() {
			for i := range 2 {
				time.Sleep(50 * time.Second) // before the first bookmark, and between it and the second
				_, err := secrets.Create(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("other-", i)}}, nil)
				if err != nil {
					t.Error(err)
				}
			}
		})
		var got []string
		for ev, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: first.ResourceVersion, Timeout: 150 * time.Second}) {
			if err != nil {
				t.Fatal(err)
			}
			list, err := maps.List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if ev.ResourceVersion != list.ResourceVersion || ev.ResourceVersion == first.ResourceVersion {
				t.Errorf("a bookmark after %s has version %s, and the server is at %s", time.Since(start), ev.ResourceVersion, list.ResourceVersion)
			}
			got = append(got, time.Since(start).String()+" "+ev.Type.String())
		}
		got = append(got, time.Since(start).String()+" end")
		others.Wait()
		want := []string{"1m0s BOOKMARK", "2m0s BOOKMARK", "2m28s BOOKMARK", "2m30s end"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bookmarks (-want +got):\n%s", diff)
		}
	})
}

// TestBookmarkOfQuietKind checks that one who comes back with the version of a bookmark of a
// kind that does not change is not too late, however much else has changed.
func TestBookmarkOfQuietKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps, leases := mapsOf(t, srv), srv.Client().Namespaced(coordination.Leases, "default")
		before, err := maps.List(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			if _, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("l", n)}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		bookmark := ""
		for ev, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: before.ResourceVersion, Timeout: 65 * time.Second}) {
			if err != nil {
				t.Fatal(err)
			}
			bookmark = ev.ResourceVersion
		}
		srv.Restart()
		for ev, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: bookmark, Timeout: 10 * time.Second}) {
			if err != nil || ev.Type != kube.Bookmark {
				t.Errorf("a watch from the bookmark %s: %v, %v", bookmark, ev, err)
			}
		}
		for _, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: before.ResourceVersion}) {
			if !errors.Is(err, kube.ErrExpired) {
				t.Errorf("a watch from before: %v, want 410", err)
			}
		}
	})
}

// TestCompactLeavesWatches checks that a watch that is open goes on when the history is
// forgotten.
func TestCompactLeavesWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		first := mustCreate(t, maps, "a")
		var got []string
		var watching sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		watching.Go(func() {
			for ev, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: first.ResourceVersion, DisableBookmarks: true}) {
				if err != nil {
					got = append(got, err.Error())
					return
				}
				got = append(got, ev.Object.Name())
			}
			got = append(got, "end")
		})
		synctest.Wait()
		if _, err := srv.Client().Namespaced(core.Secrets, "default").Create(t.Context(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, nil); err != nil {
			t.Fatal(err)
		}
		srv.Compact()
		mustCreate(t, maps, "b")
		synctest.Wait()
		if diff := cmp.Diff([]string{"b"}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		cancel()
		watching.Wait()
	})
}

// TestHistoryEnds checks that what is older than five minutes is forgotten, and that one who
// has seen everything does not notice.
func TestHistoryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := mapsOf(t, srv)
		first := mustCreate(t, maps, "a")
		mustCreate(t, maps, "b")
		page, err := maps.List(t.Context(), &kube.ListOptions{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		mustCreate(t, maps, "c")
		time.Sleep(6 * time.Minute)
		last := mustCreate(t, maps, "d")
		for _, err := range maps.Watch(t.Context(), &kube.WatchOptions{ResourceVersion: first.ResourceVersion}) {
			if !errors.Is(err, kube.ErrExpired) {
				t.Errorf("a watch from before: %v, want 410", err)
			}
		}
		if _, err := maps.List(t.Context(), &kube.ListOptions{Limit: 1, Continue: page.Continue}); !errors.Is(err, kube.ErrExpired) {
			t.Errorf("a list from before: %v, want 410", err)
		}
		if _, err := maps.List(t.Context(), &kube.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}); !errors.Is(err, kube.ErrExpired) {
			t.Errorf("a list of an old state: %v, want 410", err)
		}
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: last.ResourceVersion}) {
			if errors.Is(err, kube.ErrExpired) {
				t.Errorf("a watch that has missed nothing: %v", err)
			}
		}
	})
}

// TestPagesAreOneState changes everything between two pages of a list.
func TestPagesAreOneState(t *testing.T) {
	srv := kubetest.Start(t, nil)
	maps := mapsOf(t, srv)
	var want []string
	for n := range 20 {
		name := fmt.Sprintf("object-%02d", n)
		mustCreate(t, maps, name)
		want = append(want, name)
	}
	var got []string
	for cm, err := range maps.Each(t.Context(), &kube.ListOptions{Limit: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(cm.Name, "new") || cm.Data != nil {
			t.Errorf("%s is newer than the first page", cm.Name)
		}
		got = append(got, cm.Name)
		mustCreate(t, maps, "new-"+cm.Name)
		cm.Data = map[string]string{"changed": "yes"}
		// Those at the end have been deleted by now.
		if _, err := maps.Replace(t.Context(), cm, nil); err != nil && !errors.Is(err, kube.ErrNotFound) {
			t.Fatal(err)
		}
		last := want[len(want)-len(got)]
		if err := maps.Delete(t.Context(), last, nil); err != nil && !errors.Is(err, kube.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages of a list (-want +got):\n%s", diff)
	}
}

// TestFieldSelectors selects by the fields that a pod, a node and a secret have.
func TestFieldSelectors(t *testing.T) {
	srv := kubetest.Start(t, &kubetest.Options{YAML: `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: n1, containers: [{name: c, image: i}]}
status: {phase: Running, podIPs: [{ip: 10.0.0.1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {restartPolicy: Never, hostNetwork: true, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {unschedulable: true}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
type: example.com/t
`})
	client := srv.Client()
	count := func(fields string, list func(*kube.ListOptions) (int, error)) int {
		n, err := list(&kube.ListOptions{Fields: fields})
		if err != nil {
			t.Errorf("%s: %v", fields, err)
		}
		return n
	}
	pods := func(o *kube.ListOptions) (int, error) {
		l, err := client.All(core.Pods).List(t.Context(), o)
		return len(l.Items), err
	}
	for fields, want := range map[string]int{
		"spec.nodeName=n1":                       1,
		"spec.nodeName=":                         1,
		"spec.nodeName!=n1":                      1,
		"status.phase=Running":                   1,
		"status.podIP=10.0.0.1":                  1,
		"spec.restartPolicy=Never":               1,
		"spec.hostNetwork=true":                  1,
		"spec.hostNetwork=false,metadata.name=b": 0,
		"metadata.namespace=default":             2,
		"metadata.namespace!=default":            0,
	} {
		if got := count(fields, pods); got != want {
			t.Errorf("%d pods have %s, want %d", got, fields, want)
		}
	}
	nodes := func(o *kube.ListOptions) (int, error) {
		l, err := client.All(core.Nodes).List(t.Context(), o)
		return len(l.Items), err
	}
	if n := count("spec.unschedulable=true", nodes); n != 1 {
		t.Errorf("%d nodes are unschedulable", n)
	}
	secrets := func(o *kube.ListOptions) (int, error) {
		l, err := client.All(core.Secrets).List(t.Context(), o)
		return len(l.Items), err
	}
	if n := count("type=example.com/t", secrets); n != 1 {
		t.Errorf("%d secrets have the type", n)
	}
}
