package watcher_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// A kind that is not installed is waited for, in silence.
func TestWaitForKind(t *testing.T) {
	for _, list := range []watcher.InitialList{watcher.Auto, watcher.ListWatch, watcher.StreamingList} {
		t.Run(list.String(), func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				missing := srv.Expect("GET "+path).Always().Status(404, metav1.StatusReasonNotFound, "the server could not find the requested resource", 0)
				r := start(t, srv, watcher.Options{InitialList: list})
				time.Sleep(time.Hour)
				r.want()
				r.wantState(watcher.WaitingForKind, "")
				r.wantErrors(1, "could not find the requested resource")
				if log := r.logged(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=INFO") {
					t.Errorf("got log\n%swant one line at level INFO", log)
				}

				missing.Times(0)
				if list == watcher.ListWatch {
					srv.Expect(listFirst).List("7", "")
					srv.Expect(watchFrom("7")).Watch()
				} else {
					srv.Expect(streamList).Watch().InitialEventsEnd("7")
				}
				time.Sleep(20 * time.Second)
				r.want("Init", "InitDone @7")
			})
		})
	}
}

// discovery answers questions about what is served.
type discovery struct{ groups, resources *apitest.Expectation }

const (
	groupsPath = "/apis"
	typesPath  = "/apis/example.com/v1"
	thingsPath = typesPath + "/things"
)

// discover has srv answer that it serves the plurals of example.com/v1; nil is no such group.
func discover(srv *apitest.Server, plurals []string) *discovery {
	groups, resources := []any{}, []any{}
	if plurals != nil {
		groups = []any{map[string]any{"name": "example.com", "versions": []any{map[string]any{"version": "v1"}}}}
	}
	for _, plural := range plurals {
		resources = append(resources, map[string]any{"name": plural})
	}
	return &discovery{
		srv.Expect("GET "+groupsPath).Always().JSON(200, map[string]any{"kind": "APIGroupList", "groups": groups}),
		srv.Expect("GET "+typesPath).Always().JSON(200, map[string]any{"kind": "APIResourceList", "resources": resources}),
	}
}

func (d *discovery) asked() int { return d.groups.Served() + d.resources.Served() }

func (d *discovery) end() {
	d.groups.Times(0)
	d.resources.Times(0)
}

func thing(name, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"namespace": "default", "name": name, "resourceVersion": version, "uid": "uid-" + name},
	}}
}

// watchThings starts an engine over a custom resource that has the objects a and b.
func watchThings(t *testing.T, srv *apitest.Server) (*rig, *apitest.Watch) {
	watch := srv.Expect("GET " + thingsPath + "?watch=true&sendInitialEvents=true").Watch()
	watch.Send("ADDED", thing("a", "1"))
	watch.Send("ADDED", thing("b", "2"))
	watch.InitialEventsEnd("7")
	things := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Thing"}, resource.NamespaceScoped)
	r := follow(t, srv.Client().All(things).Endpoint(), watcher.Options{})
	r.want("Init", "InitApply a@1", "InitApply b@2", "InitDone @7")
	return r, watch
}

// A kind that goes while it is watched takes its objects with it, once discovery is certain; when
// it comes back there is a list.
func TestKindIsRemoved(t *testing.T) {
	for name, plurals := range map[string][]string{"the last of its group": nil, "one of several": {"gadgets"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, nil)
				r, watch := watchThings(t, srv)
				gone := srv.Expect("GET "+thingsPath).Always().Status(404, metav1.StatusReasonNotFound, "no such kind", 0)
				d := discover(srv, plurals)
				time.Sleep(10 * time.Second)
				watch.Close()
				time.Sleep(10 * time.Second)
				r.want("Init", "InitDone @7")
				state := r.wantState(watcher.WaitingForKind, "7")
				if !errors.Is(state.LastError, watcher.ErrNotServed) || !errors.Is(state.LastError, kube.ErrNotFound) {
					t.Errorf("LastError is %v", state.LastError)
				}
				if log := r.logged(); !strings.Contains(log, `level=WARN msg="the kind is served no longer`) {
					t.Errorf("the log is\n%s", log)
				}
				asked := d.asked()
				time.Sleep(time.Hour)
				r.want()
				if n := gone.Served(); n < 180 || n > 370 {
					t.Errorf("%d looks for the kind in an hour, want one each 10 to 20 s", n)
				}
				if d.asked() != asked || asked > 4 {
					t.Errorf("discovery was asked %d times, and %d after it was certain", asked, d.asked()-asked)
				}
				r.wantErrors(2, "no such kind") // the 404, and that the kind is removed

				gone.Times(0)
				d.end()
				again := srv.Expect("GET " + thingsPath + "?watch=true&sendInitialEvents=true").Watch()
				again.Send("ADDED", thing("c", "20"))
				again.InitialEventsEnd("20")
				time.Sleep(21 * time.Second)
				r.want("Init", "InitApply c@20", "InitDone @20")
				if state := r.wantState(watcher.Watching, "20"); state.LastError != nil {
					t.Errorf("LastError is %v", state.LastError)
				}

				// It goes again, and comes back.
				gone = srv.Expect("GET "+thingsPath).Always().Status(404, metav1.StatusReasonNotFound, "no such kind", 0)
				d = discover(srv, plurals)
				again.Close()
				time.Sleep(10 * time.Second)
				r.want("Init", "InitDone @20")
				gone.Times(0)
				d.end()
				srv.Expect("GET " + thingsPath + "?watch=true&sendInitialEvents=true").Watch().InitialEventsEnd("30")
				time.Sleep(21 * time.Second)
				r.want("Init", "InitDone @30")
			})
		})
	}
}

// What answers 404 for a while, and is not known to be gone, loses nothing.
func TestKindIsAwayForAWhile(t *testing.T) {
	for name, script := range map[string]func(srv *apitest.Server){
		"discovery has it":       func(srv *apitest.Server) { discover(srv, []string{"things"}) },
		"404 for everything":     func(srv *apitest.Server) { srv.Expect("GET "+groupsPath).Always().JSON(404, "default backend - 404") },
		"discovery is forbidden": func(srv *apitest.Server) { srv.Expect("GET "+groupsPath).Always().Status(403, "Forbidden", "no", 0) },
		"the API is listed and away": func(srv *apitest.Server) {
			srv.Expect("GET "+typesPath).Times(1).Status(404, "NotFound", "starting", 0)
			srv.Expect("GET "+typesPath).Always().Status(503, "ServiceUnavailable", "starting", 0)
			discover(srv, []string{})
		},
		"one look of two lacks it": func(srv *apitest.Server) {
			srv.Expect("GET "+groupsPath).JSON(200, map[string]any{"kind": "APIGroupList"})
			discover(srv, []string{"things"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, nil)
				r, watch := watchThings(t, srv)
				away := srv.Expect("GET "+thingsPath).Always().Status(404, metav1.StatusReasonNotFound, "not found", 0)
				script(srv)
				time.Sleep(10 * time.Second)
				watch.Close()
				time.Sleep(10 * time.Minute)
				r.want()
				if state := r.wantState(watcher.WaitingForKind, "7"); errors.Is(state.LastError, watcher.ErrNotServed) {
					t.Errorf("LastError is %v", state.LastError)
				}
				away.Times(0)
				again := srv.Expect("GET " + thingsPath + "?watch=true&sendInitialEvents=true").Watch()
				again.Send("ADDED", thing("a", "1"))
				again.InitialEventsEnd("9")
				time.Sleep(21 * time.Second)
				r.want("Init", "InitApply a@1", "InitDone @9")
			})
		})
	}
}
