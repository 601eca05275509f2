package watcher_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

func TestInvalidOptions(t *testing.T) {
	for _, test := range []struct {
		name string
		opts watcher.Options
		want string
	}{
		{"Timeout", watcher.Options{Timeout: time.Millisecond}, "Options.Timeout is 1ms; it has to be 0 (the default) or at least 1s"},
		{"IdleTimeout", watcher.Options{IdleTimeout: -1}, "Options.IdleTimeout is -1ns"},
		{"StreamingListTimeout", watcher.Options{StreamingListTimeout: -1}, "Options.StreamingListTimeout is -1ns"},
		{"MinBackoff", watcher.Options{MinBackoff: -1}, "Options.MinBackoff is -1ns"},
		{"MaxBackoff", watcher.Options{MinBackoff: 2 * time.Second, MaxBackoff: time.Second}, "Options.MaxBackoff 1s is less than MinBackoff 2s"},
		{"BackoffReset", watcher.Options{BackoffReset: -1}, "Options.BackoffReset is -1ns"},
		{"InitialList", watcher.Options{InitialList: 7}, "Options.InitialList is InitialList(7)"},
		{"bookmarks", watcher.Options{InitialList: watcher.StreamingList, DisableBookmarks: true}, "StreamingList needs bookmarks"},
		{"idle without bookmarks", watcher.Options{IdleTimeout: time.Minute, DisableBookmarks: true}, "Options.IdleTimeout 1m0s is not more than Timeout 4m50s"},
		{"Labels", watcher.Options{Labels: "a in"}, `Options.Labels "a in" is no label selector`},
		{"Fields", watcher.Options{Fields: "a"}, `Options.Fields "a" is no field selector`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, apitest.Start(t, nil), test.opts)
				r.want()
				r.wantErrors(1, test.want)
				r.stop() // the sequence has ended by itself
				if err := r.engine.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got Err %v, want %q", err, test.want)
				}
				if err := r.engine.State().LastError; err != r.engine.Err() {
					t.Errorf("got LastError %v, want %v", err, r.engine.Err())
				}
			})
		})
	}
}

// Every option reaches the server.
func TestOptionsAreSent(t *testing.T) {
	for _, test := range []struct {
		name     string
		opts     watcher.Options
		requests []string
	}{
		{
			"selectors and page size",
			watcher.Options{InitialList: watcher.ListWatch, Labels: "app=web", Fields: "metadata.name=a", PageSize: 10},
			[]string{"?limit=10&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Da", "?watch=true&resourceVersion=7&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Da"},
		},
		{"no pages", watcher.Options{InitialList: watcher.ListWatch, PageSize: -1}, []string{"?limit=", "?watch=true&resourceVersion=7"}},
		{"any version", watcher.Options{InitialList: watcher.ListWatch, AnyVersion: true}, []string{"?limit=&resourceVersion=0", "?watch=true&resourceVersion=7"}},
		{"timeout", watcher.Options{InitialList: watcher.ListWatch, Timeout: time.Minute}, []string{"?limit=500", "?timeoutSeconds=60"}},
		{"no bookmarks", watcher.Options{DisableBookmarks: true}, []string{"?limit=500", "?watch=true&allowWatchBookmarks="}},
		{"any version of a streaming list", watcher.Options{AnyVersion: true}, []string{"?sendInitialEvents=true&resourceVersion=0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				for i, query := range test.requests {
					e := srv.Expect("GET " + path + query)
					switch {
					case len(test.requests) == 1:
						e.Watch().InitialEventsEnd("7")
					case i == 0:
						e.List("7", "")
					default:
						e.Watch()
					}
				}
				start(t, srv, test.opts).want("Init", "InitDone @7")
			})
		})
	}
}

// A snapshot after the first is not taken from a cache that may be older than what is known.
func TestAnyVersionOnlyOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET "+path+"?limit=&resourceVersion=0").List("7", "")
		watch := srv.Expect(watchFrom("7")).Watch()
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch, AnyVersion: true})
		r.want("Init", "InitDone @7")
		srv.Expect(listFirst).List("20", "")
		srv.Expect(watchFrom("20")).Watch()
		watch.Error(410, "Expired", "too old")
		r.want("Init", "InitDone @20")
	})
}

func TestIdleTimeoutOption(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(streamList).Watch().InitialEventsEnd("7")
		r := start(t, srv, watcher.Options{IdleTimeout: 90 * time.Second})
		srv.Expect(watchFrom("7")).Watch()
		time.Sleep(91 * time.Second)
		r.wantErrors(1, "nothing came from the server")
	})
}

func TestObject(t *testing.T) {
	const query = "?watch=true&fieldSelector=metadata.name%3Da&sendInitialEvents=true"
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect("GET " + path + query).Watch()
		var seen []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for lazy, present := range watcher.Object(t.Context(), srv.Client().Namespaced(core.ConfigMaps, "default"), "a", nil) {
				if !present {
					seen = append(seen, "absent")
				} else {
					seen = append(seen, lazy.Name()+"@"+lazy.ResourceVersion())
				}
				if len(seen) == 5 {
					return
				}
			}
		}()
		want := func(states ...string) {
			t.Helper()
			synctest.Wait()
			if got := strings.Join(seen, " "); got != strings.Join(states, " ") {
				t.Errorf("got %s, want %v", got, states)
			}
		}
		want()
		watch.InitialEventsEnd("7") // absence at the start is news, too
		want("absent")
		watch.Send("ADDED", object("a", "8"))
		watch.Send("MODIFIED", object("a", "9"))
		want("absent", "a@8", "a@9")

		// A new snapshot that says the same is no news; one that lacks the object is.
		for _, present := range []bool{true, false} {
			old := watch
			watch = srv.Expect("GET " + path + query).Watch()
			if present {
				watch.Send("ADDED", object("a", "9"))
			}
			watch.InitialEventsEnd("20")
			old.Error(410, "Expired", "too old")
			time.Sleep(10 * time.Second)
			if present {
				want("absent", "a@8", "a@9")
			}
		}
		want("absent", "a@8", "a@9", "absent")
		watch.Send("ADDED", object("a", "21"))
		<-done
		want("absent", "a@8", "a@9", "absent", "a@21")
	})
}

func TestObjectNeedsANameAndANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := apitest.Start(t, nil).Client()
		for want, object := range map[string]func(*watcher.Options){
			"Object needs a name": func(o *watcher.Options) {
				for range watcher.Object(t.Context(), client.Namespaced(core.ConfigMaps, "default"), "", o) {
				}
			},
			"Object needs an API of one namespace": func(o *watcher.Options) {
				for range watcher.Object(t.Context(), client.All(core.ConfigMaps), "a", o) {
				}
			},
		} {
			var got error
			object(&watcher.Options{OnError: func(err error) { got = err }})
			if got == nil || !strings.Contains(got.Error(), want) {
				t.Errorf("got %v, want %q", got, want)
			}
		}
	})
}
