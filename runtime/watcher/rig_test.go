package watcher_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

// path is where the objects of these tests live.
const path = "/api/v1/namespaces/default/configmaps"

// The requests of a watcher.
const (
	listFirst  = "GET " + path + "?watch=&limit=500&continue=&resourceVersion="
	streamList = "GET " + path + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=&allowWatchBookmarks=true&timeoutSeconds=290"
)

func watchFrom(version string) string {
	return "GET " + path + "?watch=true&sendInitialEvents=&resourceVersionMatch=&allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=" + version
}

func object(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name)},
	}
}

// eachProtocol runs f in a bubble of its own with a server for each way of speaking.
func eachProtocol(t *testing.T, f func(t *testing.T, srv *apitest.Server)) {
	for name, opts := range map[string]*apitest.Options{
		"HTTP1 JSON":     {},
		"HTTP2 JSON":     {HTTP2: true},
		"HTTP1 protobuf": {Protobuf: true},
		"HTTP2 protobuf": {HTTP2: true, Protobuf: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, apitest.Start(t, opts)) })
		})
	}
}

// rig is an engine that runs, and what came of it.
type rig struct {
	t      *testing.T
	engine *watcher.Engine
	stop   func()

	mu     sync.Mutex
	events []string
	errs   []error
	log    strings.Builder
}

// start runs an engine over the config maps of srv until the test ends.
func start(t *testing.T, srv *apitest.Server, opts watcher.Options) *rig {
	t.Helper()
	return follow(t, srv.Client().Namespaced(core.ConfigMaps, "default").Endpoint(), opts)
}

// follow runs an engine over endpoint until the test ends.
func follow(t *testing.T, endpoint kube.Endpoint, opts watcher.Options) *rig {
	t.Helper()
	r := &rig{t: t}
	opts.OnError = r.failed
	opts.Logger = slog.New(slog.NewTextHandler(writer{r}, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	r.engine = watcher.NewEngine(endpoint, &opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range r.engine.Events(ctx) {
			r.take(event)
		}
	}()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
	synctest.Wait()
	return r
}

// writer collects the log of a rig.
type writer struct{ r *rig }

func (w writer) Write(p []byte) (int, error) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.log.Write(p)
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func (r *rig) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *rig) take(event watcher.RawEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := event.Type.String()
	if event.Object != nil {
		text += " " + event.Object.Name() + "@" + event.Object.ResourceVersion()
	} else if event.ResourceVersion != "" {
		text += " @" + event.ResourceVersion
	}
	r.events = append(r.events, text)
}

// want checks the events since the last call, once everything has come to rest.
func (r *rig) want(events ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(events, r.events); diff != "" {
		r.t.Errorf("events (-want +got):\n%s", diff)
	}
	r.events = nil
}

// wantErrors checks the number of failures since the last call, and that each contains text.
func (r *rig) wantErrors(n int, text string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errs) != n {
		r.t.Errorf("got %d failures, want %d: %v", len(r.errs), n, r.errs)
	}
	for _, err := range r.errs {
		if !strings.Contains(err.Error(), text) {
			r.t.Errorf("got failure %q, want it to contain %q", err, text)
		}
	}
	r.errs = nil
}

// logged returns the log since the last call.
func (r *rig) logged() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.log.Reset()
	return r.log.String()
}

// wantState checks the phase and how far the watcher has come.
func (r *rig) wantState(phase watcher.Phase, version string) watcher.State {
	r.t.Helper()
	synctest.Wait()
	state := r.engine.State()
	if state.Phase != phase || state.ResourceVersion != version {
		r.t.Errorf("got state %s at version %q, want %s at %q", state.Phase, state.ResourceVersion, phase, version)
	}
	return state
}

// afterBackoff waits until a delay of the nth step (0 is the first) is surely over.
func afterBackoff(n int) {
	time.Sleep(min(800*time.Millisecond<<n, 30*time.Second)*2 + time.Millisecond)
}

// synced gives srv a list at version and a watch from there, and starts a watcher that has
// come so far.
func synced(t *testing.T, srv *apitest.Server, version string) (*rig, *apitest.Watch) {
	t.Helper()
	srv.Expect(listFirst).List(version, "", object("a", "1"))
	watch := srv.Expect(watchFrom(version)).Watch()
	r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
	r.want("Init", "InitApply a@1", "InitDone @"+version)
	if !watch.Open() {
		t.Fatal("no watch was opened after the list")
	}
	return r, watch
}

func isStatus(err error, code int32) bool {
	request, ok := errors.AsType[*kube.Error](err)
	if !ok {
		return false
	}
	status, ok := request.Err.(interface{ Status() metav1.Status })
	return ok && status.Status().Code == code
}
