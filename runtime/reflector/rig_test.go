package reflector_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

const (
	path   = "/api/v1/configmaps"
	stream = "GET " + path + "?watch=true&sendInitialEvents=true"
)

// ref names a config map of the namespace default.
func ref(name string) resource.Ref[corev1.ConfigMap] {
	return resource.Ref[corev1.ConfigMap]{Namespace: "default", Name: name}
}

// object returns a config map. Changes are functions on it.
func object(name, version string, changes ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	o := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name)},
	}
	for _, change := range changes {
		change(o)
	}
	return o
}

func uid(uid types.UID) func(*corev1.ConfigMap) { return func(o *corev1.ConfigMap) { o.UID = uid } }

func label(key, value string) func(*corev1.ConfigMap) {
	return func(o *corev1.ConfigMap) { metav1.SetMetaDataLabel(&o.ObjectMeta, key, value) }
}

func data(key, value string) func(*corev1.ConfigMap) {
	return func(o *corev1.ConfigMap) { o.Data = map[string]string{key: value} }
}

// inBubbles runs f in a bubble with a server that sends JSON, and one that sends protobuf.
func inBubbles(t *testing.T, f func(t *testing.T, srv *apitest.Server)) {
	for name, opts := range map[string]*apitest.Options{"JSON": {}, "protobuf": {HTTP2: true, Protobuf: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, apitest.Start(t, opts)) })
		})
	}
}

func newReflector(srv *apitest.Server, opts *reflector.Options) *reflector.Reflector[corev1.ConfigMap] {
	return reflector.New(srv.Client().All(core.ConfigMaps), opts)
}

// run runs r until the test ends, or until stop is called.
func run[K any](t *testing.T, r *reflector.Reflector[K]) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// send begins a streaming list with objects and ends it at version.
func send(w *apitest.Watch, version string, objects ...*corev1.ConfigMap) {
	for _, o := range objects {
		w.Send("ADDED", o)
	}
	w.InitialEventsEnd(version)
}

// started runs a reflector whose store has objects at version 10.
func started(t *testing.T, srv *apitest.Server, opts *reflector.Options, objects ...*corev1.ConfigMap) (*reflector.Reflector[corev1.ConfigMap], *apitest.Watch) {
	t.Helper()
	watch := srv.Expect(stream).Watch()
	send(watch, "10", objects...)
	r := newReflector(srv, opts)
	run(t, r)
	return r, watch
}

// wantStore checks what the store has, as name@version.
func wantStore(t *testing.T, r *reflector.Reflector[corev1.ConfigMap], want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, names(r.Store().All())); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
	if n := r.Store().Len(); n != len(want) {
		t.Errorf("got length %d, want %d", n, len(want))
	}
	wantBytes(t, r)
}

// wantBytes checks that the bytes that were counted are those of the objects that are there.
func wantBytes(t *testing.T, r *reflector.Reflector[corev1.ConfigMap]) {
	t.Helper()
	var bytes int64
	for lazy := range r.Store().All() {
		bytes += int64(lazy.Size())
	}
	if got := r.Store().Stats().Bytes; got != bytes {
		t.Errorf("the store counts %d bytes, and has %d", got, bytes)
	}
}

// names returns the objects of seq as name@version, in order.
func names[K any](seq func(func(resource.Lazy[K]) bool)) (names []string) {
	for lazy := range seq {
		names = append(names, lazy.Name()+"@"+lazy.ResourceVersion())
	}
	slices.Sort(names)
	return names
}

// follower collects the changes of a reflector.
type follower struct {
	t    *testing.T
	mu   sync.Mutex
	seen []string
	stop func()
}

// follow follows r until the test ends. hold, if not nil, is called in the loop body.
func follow[K any](t *testing.T, r *reflector.Reflector[K], hold func()) *follower {
	t.Helper()
	f := &follower{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for change := range r.Changes(ctx) {
			f.take(change)
			if hold != nil {
				hold()
			}
		}
	}()
	f.stop = func() { cancel(); <-done }
	t.Cleanup(f.stop)
	synctest.Wait()
	return f
}

func (f *follower) take[K any](c reflector.Change[K]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sign := ""
	if c.Initial {
		sign = "="
	}
	if c.Deleted {
		sign += "-"
	}
	f.seen = append(f.seen, fmt.Sprintf("%s%s@%s", sign, c.Ref().Name, c.Object.ResourceVersion()))
}

// want checks the changes since the last call. Those that came together are in any order when
// they are given in one string.
func (f *follower) want(changes ...string) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.seen
	f.seen = nil
	for _, together := range changes {
		want := strings.Fields(together)
		part := slices.Clone(got[:min(len(want), len(got))])
		got = got[len(part):]
		slices.Sort(part)
		slices.Sort(want)
		if diff := cmp.Diff(want, part); diff != "" {
			f.t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
	if len(got) > 0 {
		f.t.Errorf("more changes than wanted: %v", got)
	}
}
