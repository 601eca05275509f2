package watcher_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

// TestNoBusyLoop counts the requests, or dials, of an hour of every sort of trouble.
func TestNoBusyLoop(t *testing.T) {
	listed := func(srv *apitest.Server) {
		srv.Expect(strings.TrimSuffix(listFirst, "&resourceVersion=")).Always().List("7", "", object("a", "1"))
	}
	for name, trouble := range map[string]func(*apitest.Server){
		"connections refused": func(srv *apitest.Server) { srv.Network().Refuse(true) },
		"403": func(srv *apitest.Server) {
			srv.Expect("GET "+path).Always().Status(403, metav1.StatusReasonForbidden, "no", 0)
		},
		"404": func(srv *apitest.Server) {
			srv.Expect("GET "+path).Always().Status(404, metav1.StatusReasonNotFound, "no such kind", 0)
		},
		"500": func(srv *apitest.Server) {
			srv.Expect("GET "+path).Always().Status(500, metav1.StatusReasonInternalError, "oops", 0)
		},
		"watches end at once": func(srv *apitest.Server) {
			listed(srv)
			srv.Expect("GET "+path+"?watch=true").Always().JSON(200, "")
		},
		"watches break at once": func(srv *apitest.Server) {
			listed(srv)
			srv.Expect("GET " + path + "?watch=true").Always().Reply(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		},
		"watches send one event and end": func(srv *apitest.Server) {
			listed(srv)
			version := 7
			srv.Expect("GET " + path + "?watch=true").Always().Reply(func(w http.ResponseWriter, r *http.Request) {
				version++
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"default","resourceVersion":"`+strconv.Itoa(version)+`"}}}`)
			})
		},
		"everything is expired": func(srv *apitest.Server) {
			listed(srv)
			srv.Expect("GET "+path+"?watch=true").Always().Status(410, metav1.StatusReasonExpired, "too old", 0)
		},
		"watches are forbidden": func(srv *apitest.Server) {
			listed(srv)
			srv.Expect("GET "+path+"?watch=true").Always().Status(403, metav1.StatusReasonForbidden, "no", 0)
		},
		"lists without a version": func(srv *apitest.Server) {
			srv.Expect("GET "+path+"?watch=").Always().List("", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				trouble(srv)
				start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
				time.Sleep(time.Hour)
				// With delays of 30 to 60 s an hour has room for 120 tries, with those of 10 to
				// 20 s while a kind is missing for 360. A try is a list and a watch at most.
				limit := 260
				if name == "404" {
					limit = 400
				}
				n := max(len(srv.Requests()), srv.Network().Dials())
				if n < 50 || n > limit {
					t.Errorf("got %d requests in an hour, want 50 to %d", n, limit)
				}
			})
		})
	}
}

// The delay doubles from 800 ms to 30 s, with up to as much again at random, and starts over
// after 120 s of health.
func TestBackoffGrowsAndResets(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		failing := srv.Expect(listFirst).Always().Status(500, metav1.StatusReasonInternalError, "oops", 0)
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		time.Sleep(10 * time.Minute)
		jittered := false
		for i, gap := range gaps(srv.Requests()) {
			step := min(800*time.Millisecond<<i, 30*time.Second)
			if gap < step || gap > 2*step {
				t.Errorf("delay %d is %s, want %s to %s", i, gap, step, 2*step)
			}
			jittered = jittered || gap != step
		}
		if !jittered {
			t.Error("the delays have no jitter")
		}

		failing.Times(0)
		srv.Expect(listFirst).List("7", "")
		watch := srv.Expect(watchFrom("7")).Watch()
		time.Sleep(3 * time.Minute)
		r.want("Init", "InitDone @7")

		srv.Expect(listFirst).List("9", "")
		srv.Expect(watchFrom("9")).Watch()
		watch.Send("ADDED", object("b", "")) // has no version to go on from
		r.want()
		afterBackoff(0)
		r.want("Init", "InitDone @9")
	})
}

// gaps returns the times between requests.
func gaps(requests []apitest.Request) (gaps []time.Duration) {
	for i := 1; i < len(requests); i++ {
		gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
	}
	return gaps
}

// What worked for less than 120 s is not health, as long as each try costs a new list.
func TestBackoffIsNotResetByAShortSuccess(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(strings.TrimSuffix(listFirst, "&resourceVersion=")).Always().List("7", "")
		srv.Expect(watchFrom("7")).Always().Reply(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Second)
			io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired"}}`)
		})
		start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		time.Sleep(20 * time.Minute)
		if n := len(srv.Requests()); n > 2*40 {
			t.Errorf("got %d requests in 20 minutes, want at most 80", n)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(listFirst).Status(429, metav1.StatusReasonTooManyRequests, "busy", 100*time.Second)
		start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		srv.Expect(listFirst).List("7", "")
		srv.Expect(watchFrom("7")).Watch()
		time.Sleep(99 * time.Second)
		synctest.Wait()
		if n := len(srv.Requests()); n != 1 {
			t.Errorf("got %d requests after 99s, want 1: the server asked for 100s", n)
		}
		time.Sleep(2 * time.Second)
	})
}

// Every error of the server keeps its Status, and names verb and resource.
func TestErrorsKeepTheirStatus(t *testing.T) {
	for name, code := range map[string]int32{"401": 401, "403": 403, "429": 429, "500": 500} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				srv.Expect(listFirst).Status(int(code), "", "message of the server", 0)
				r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
				if err := r.engine.State().LastError; !isStatus(err, code) {
					t.Errorf("got %v, want the Status with code %d", err, code)
				}
				r.wantErrors(1, "list configmaps in namespace default: message of the server")
			})
		})
	}
}

// Forbidden is told loudly, once.
func TestForbidden(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(streamList).Always().Status(403, metav1.StatusReasonForbidden, "configmaps is forbidden", 0)
		r := start(t, srv, watcher.Options{})
		time.Sleep(time.Hour)
		state := r.wantState(watcher.Retrying, "")
		if !errors.Is(state.LastError, kube.ErrForbidden) {
			t.Errorf("got %v, want ErrForbidden", state.LastError)
		}
		log := r.logged()
		want := `level=ERROR msg="watch is not allowed, trying again" resource=configmaps error="watch configmaps in namespace default: configmaps is forbidden"`
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, want) {
			t.Errorf("got log\n%swant one line with\n%s", log, want)
		}
	})
}

// A connection that is cut every few seconds, but brings something each time, is resumed after
// short delays: nothing is wrong with the server.
func TestFlakyConnection(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(listFirst).List("7", "")
		version := 7
		srv.Expect("GET " + path + "?watch=true").Always().Reply(func(w http.ResponseWriter, r *http.Request) {
			version++
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"`+strconv.Itoa(version)+`"}}}`+"\n")
			http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Second)
			panic(http.ErrAbortHandler)
		})
		start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		time.Sleep(10 * time.Minute)
		for i, gap := range gaps(srv.Requests())[1:] {
			if delay := gap - 5*time.Second; delay < 800*time.Millisecond || delay > 1600*time.Millisecond {
				t.Errorf("delay %d is %s, want 800ms to 1.6s", i, delay)
			}
		}
	})
}

// The client's own retries do not multiply those of the watcher.
func TestNoRetryWithinARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		cfg := srv.Config()
		cfg.DisableRetry = false
		client, err := kube.NewClient(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		srv.Expect("GET "+path).Always().Status(503, metav1.StatusReasonServiceUnavailable, "starting", 0)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		for range watcher.New(client.Namespaced(core.ConfigMaps, "default"), nil).Events(ctx) {
		}
		if n := len(srv.Requests()); n > 30 {
			t.Errorf("got %d requests in 10 minutes, want at most 30", n)
		}
	})
}

// A server that takes a watch and does not answer is given up.
func TestWatchIsNotAnswered(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(listFirst).List("7", "")
		srv.Expect(watchFrom("7")).Reply(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		srv.Expect(watchFrom("7")).Watch()
		time.Sleep(65 * time.Second)
		r.want("Init", "InitDone @7")
		r.wantErrors(1, "nothing came from the server for too long")
		r.wantState(watcher.Watching, "7")
	})
}

// Breaking the loop closes the connection.
func TestBreakReleasesTheConnection(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		watch.InitialEventsEnd("7")
		w := watcher.New(srv.Client().Namespaced(core.ConfigMaps, "default"), nil)
		for event := range w.Events(t.Context()) {
			if event.Type == watcher.InitDone {
				break
			}
		}
		synctest.Wait()
		if watch.Open() {
			t.Error("the watch is still open after the loop")
		}
		if phase := w.State().Phase; phase != watcher.Idle {
			t.Errorf("got phase %s, want Idle", phase)
		}
	})
}

// The loop can be broken at every event, and is not called again.
func TestBreakAnywhere(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for _, list := range []watcher.InitialList{watcher.ListWatch, watcher.StreamingList} {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				srv.Expect(listFirst).Always().List("7", "", object("a", "1"), object("b", "2"))
				stream := srv.Expect(streamList).Always().Watch()
				stream.Send("ADDED", object("a", "1"))
				stream.Send("ADDED", object("b", "2"))
				stream.InitialEventsEnd("7")
				watch := srv.Expect(watchFrom("7")).Always().Watch()
				for _, w := range []*apitest.Watch{stream, watch} {
					w.Send("MODIFIED", object("a", "8"))
					w.Bookmark("9")
				}
				engine := watcher.NewEngine(srv.Client().Namespaced(core.ConfigMaps, "default").Endpoint(), &watcher.Options{InitialList: list})
				left := n
				for range engine.Events(t.Context()) {
					if left--; left == 0 {
						break
					}
				}
			})
		}
	}
}

// A slow loop is no reason to take the connection for dead.
func TestSlowConsumer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		for _, name := range []string{"a", "b", "c"} {
			watch.Send("ADDED", object(name, "1"))
		}
		watch.InitialEventsEnd("7")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for range watcher.New(srv.Client().Namespaced(core.ConfigMaps, "default"), nil).Events(ctx) {
			time.Sleep(time.Hour)
			if n++; n == 5 {
				cancel()
			}
		}
		if n != 5 {
			t.Errorf("got %d events, want 5", n)
		}
	})
}
