package watcher_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/watcher"
)

// The tests here go through the table of states: each state, each input.

func TestListThenWatch(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		r.wantState(watcher.Watching, "7")

		watch.Send("ADDED", object("b", "8"))
		watch.Send("MODIFIED", object("a", "9"))
		watch.Send("DELETED", object("b", "10"))
		watch.Bookmark("15")
		r.want("Apply b@8", "Apply a@9", "Delete b@10", "Bookmark @15")
		r.wantState(watcher.Watching, "15")
		r.wantErrors(0, "")
		if log := r.logged(); log != "" {
			t.Errorf("a healthy watcher has nothing to say, and logged:\n%s", log)
		}
	})
}

func TestPages(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		// The first page has no version, and the last has no token.
		srv.Expect("GET "+path+"?limit=1&continue=&resourceVersion=").List("", "first", object("a", "1"))
		srv.Expect("GET "+path+"?limit=1&continue=first").List("5", "second", object("b", "2"))
		srv.Expect("GET "+path+"?limit=1&continue=second").List("7", "", object("c", "3"))
		srv.Expect(watchFrom("7")).Watch()
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch, PageSize: 1})
		r.want("Init", "InitApply a@1", "InitApply b@2", "InitApply c@3", "InitDone @7")
	})
}

func TestEmptyList(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(listFirst).List("7", "")
		srv.Expect(watchFrom("7")).Watch()
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		r.want("Init", "InitDone @7")
	})
}

func TestListWithoutVersion(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(listFirst).List("", "", object("a", "1"))
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		r.want("Init", "InitApply a@1")
		r.wantErrors(1, "list configmaps in namespace default: the server sent no resource version")
		r.wantState(watcher.Retrying, "")

		srv.Expect(listFirst).List("7", "", object("b", "2"))
		srv.Expect(watchFrom("7")).Watch()
		afterBackoff(0)
		r.want("Init", "InitApply b@2", "InitDone @7")
	})
}

func TestListFails(t *testing.T) {
	for name, answer := range map[string]func(*apitest.Expectation){
		"500":     func(e *apitest.Expectation) { e.Status(500, metav1.StatusReasonInternalError, "etcd is away", 0) },
		"429":     func(e *apitest.Expectation) { e.Status(429, metav1.StatusReasonTooManyRequests, "slow down", 0) },
		"expired": func(e *apitest.Expectation) { e.Status(410, metav1.StatusReasonExpired, "too old", 0) },
		"abort": func(e *apitest.Expectation) {
			e.Reply(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		},
		"no json": func(e *apitest.Expectation) { e.JSON(200, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				answer(srv.Expect(listFirst))
				r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
				r.want()
				r.wantErrors(1, "list configmaps in namespace default: ")
				if state := r.wantState(watcher.Retrying, ""); state.LastError == nil || state.Failures != 1 || state.Synced {
					t.Errorf("got state %+v, want one failure and no snapshot", state)
				}

				srv.Expect(listFirst).List("7", "", object("a", "1"))
				srv.Expect(watchFrom("7")).Watch()
				afterBackoff(0)
				r.want("Init", "InitApply a@1", "InitDone @7")
				time.Sleep(time.Second)
				if state := r.wantState(watcher.Watching, "7"); state.LastError != nil || state.Failures != 0 || !state.Synced {
					t.Errorf("got state %+v, want it healthy", state)
				}
			})
		})
	}
}

// A page that fails for a passing reason is asked for again: what came before is good.
func TestPageIsRetried(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET "+path+"?limit=1&continue=").List("7", "next", object("a", "1"))
		page := "GET " + path + "?limit=1&continue=next"
		srv.Expect(page).Status(503, metav1.StatusReasonServiceUnavailable, "restarting", 0)
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch, PageSize: 1})
		r.want("Init", "InitApply a@1")
		r.wantErrors(1, "restarting")

		srv.Expect(page).List("7", "", object("b", "2"))
		srv.Expect(watchFrom("7")).Watch()
		afterBackoff(0)
		r.want("InitApply b@2", "InitDone @7")
	})
}

// A page that keeps failing leads to a new list.
func TestPageKeepsFailing(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET "+path+"?limit=1&continue=").List("7", "next", object("a", "1"))
		failing := srv.Expect("GET "+path+"?limit=1&continue=next").Times(3).Status(500, metav1.StatusReasonInternalError, "cannot", 0)
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch, PageSize: 1})
		srv.Expect("GET "+path+"?limit=1&continue=").After(failing).List("9", "", object("c", "8"))
		srv.Expect(watchFrom("9")).Watch()
		for n := range 3 {
			afterBackoff(n)
		}
		r.want("Init", "InitApply a@1", "Init", "InitApply c@8", "InitDone @9")
		r.wantErrors(3, "cannot")
	})
}

// A continue token that is too old leads to a list in one piece. The fresh token in the
// refusal is not for us: it leads on from another state than that of the pages before.
func TestContinueTokenExpires(t *testing.T) {
	expired := `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"fresh"},"status":"Failure",
		"message":"The provided continue parameter is too old","reason":"Expired","code":410}`
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET "+path+"?limit=1&continue=").List("7", "old", object("a", "1"))
		srv.Expect("GET "+path+"?limit=1&continue=old").JSON(410, expired)
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch, PageSize: 1})
		r.want("Init", "InitApply a@1")
		r.wantErrors(1, "too old")

		srv.Expect("GET "+path+"?limit=&continue=&resourceVersion=").List("9", "", object("b", "2"), object("c", "3"))
		watch := srv.Expect(watchFrom("9")).Watch()
		afterBackoff(0)
		r.want("Init", "InitApply b@2", "InitApply c@3", "InitDone @9")

		// The next snapshot is paged again.
		srv.Expect("GET "+path+"?limit=1&continue=").List("11", "")
		srv.Expect(watchFrom("11")).Watch()
		watch.Error(410, metav1.StatusReasonExpired, "gone")
		r.want("Init", "InitDone @11")
	})
}

func TestStreamingList(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		watch.Send("ADDED", object("a", "1"))
		watch.Send("ADDED", object("b", "2"))
		watch.Bookmark("5") // not the one that counts
		watch.Send("MODIFIED", object("a", "6"))
		watch.Send("DELETED", object("b", "7"))
		r := start(t, srv, watcher.Options{})
		// A deletion among the initial events takes the object out of the snapshot.
		r.want("Init", "InitApply a@1", "InitApply b@2", "InitApply a@6", "Delete b@7")
		r.wantState(watcher.Listing, "")

		watch.InitialEventsEnd("7")
		r.want("InitDone @7")
		r.wantState(watcher.Watching, "7")

		// The same connection goes on.
		watch.Send("ADDED", object("c", "8"))
		r.want("Apply c@8")

		// A watch that is resumed does not ask for initial events again.
		resumed := srv.Expect(watchFrom("8")).Watch()
		time.Sleep(290 * time.Second)
		watch.Close()
		synctest.Wait()
		resumed.Send("ADDED", object("d", "9"))
		r.want("Apply d@9")
		r.wantErrors(0, "")
	})
}

func TestStreamingListOfNothing(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(streamList).Watch().InitialEventsEnd("7")
		r := start(t, srv, watcher.Options{})
		r.want("Init", "InitDone @7")
	})
}

// A streaming list that breaks starts over with Init, after a delay: what has come is void,
// so nothing that went meanwhile stays as a ghost.
func TestStreamingListBreaks(t *testing.T) {
	for name, cut := range map[string]func(*apitest.Watch){
		"closed":     (*apitest.Watch).Close,
		"aborted":    (*apitest.Watch).Abort,
		"expired":    func(w *apitest.Watch) { w.Error(410, metav1.StatusReasonExpired, "too old") },
		"error":      func(w *apitest.Watch) { w.Error(500, metav1.StatusReasonInternalError, "etcd is away") },
		"garbage":    func(w *apitest.Watch) { w.Write([]byte("\xff\xff\xff\xff garbage\n")) },
		"no version": func(w *apitest.Watch) { w.InitialEventsEnd("") },
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				watch := srv.Expect(streamList).Watch()
				watch.Send("ADDED", object("ghost", "1"))
				r := start(t, srv, watcher.Options{InitialList: watcher.StreamingList})
				cut(watch)
				r.want("Init", "InitApply ghost@1")
				r.wantErrors(1, "watch configmaps in namespace default: ")
				r.wantState(watcher.Retrying, "")

				again := srv.Expect(streamList).Watch()
				again.Send("ADDED", object("b", "2"))
				again.InitialEventsEnd("7")
				afterBackoff(0)
				r.want("Init", "InitApply b@2", "InitDone @7")
			})
		})
	}
}

// A server that does not know streaming lists refuses the parameter, and is not asked again
// by the same client.
func TestStreamingListRefused(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(streamList).Status(422, metav1.StatusReasonInvalid, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled", 0)
		srv.Expect(listFirst).Times(2).List("7", "")
		srv.Expect(watchFrom("7")).Times(2).Watch()
		r := start(t, srv, watcher.Options{})
		r.want("Init", "InitDone @7")
		r.wantErrors(0, "")
		r.stop()

		r = start(t, srv, watcher.Options{})
		r.want("Init", "InitDone @7")
	})
}

// An old server, and some proxies, send what exists and never the bookmark.
func TestStreamingListNeverEnds(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		watch.Send("ADDED", object("a", "1"))
		r := start(t, srv, watcher.Options{})
		time.Sleep(9 * time.Second)
		watch.Send("ADDED", object("b", "2")) // it is slow, but it goes on
		time.Sleep(9 * time.Second)
		r.want("Init", "InitApply a@1", "InitApply b@2")

		srv.Expect(listFirst).List("7", "", object("a", "1"))
		srv.Expect(watchFrom("7")).Watch()
		time.Sleep(2 * time.Second)
		r.want("Init", "InitApply a@1", "InitDone @7")
		if watch.Open() {
			t.Error("the streaming list is still open")
		}
		r.wantErrors(0, "")
	})
}

func TestStreamingListForced(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(streamList).Status(422, metav1.StatusReasonInvalid, "no such feature", 0)
		r := start(t, srv, watcher.Options{InitialList: watcher.StreamingList})
		r.wantErrors(1, "no such feature")
		silent := srv.Expect(streamList).Watch()
		srv.Expect(streamList).Watch().InitialEventsEnd("7")
		afterBackoff(0)
		time.Sleep(10 * time.Second)
		r.wantErrors(1, "nothing came from the server for too long")
		if silent.Open() {
			t.Error("the silent streaming list is still open")
		}
		afterBackoff(1)
		r.want("Init", "InitDone @7")
	})
}

// Streaming lists that break again and again give way to pages, for one snapshot.
func TestStreamingListBreaksOften(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		breaking := srv.Expect(streamList).Times(3).Watch()
		for range 3 {
			breaking.Send("ADDED", object("a", "1"))
			breaking.Close()
		}
		r := start(t, srv, watcher.Options{})
		afterBackoff(0)
		afterBackoff(1)
		r.want("Init", "InitApply a@1", "Init", "InitApply a@1", "Init", "InitApply a@1")
		r.wantErrors(3, "before it was complete")

		srv.Expect(listFirst).List("7", "")
		watch := srv.Expect(watchFrom("7")).Watch()
		afterBackoff(2)
		r.want("Init", "InitDone @7")

		srv.Expect(streamList).Watch().InitialEventsEnd("9")
		watch.Error(410, metav1.StatusReasonExpired, "too old")
		r.want("Init", "InitDone @9")
	})
}

// The version is refused as an event or when the watch starts, with a code or a reason: all
// of that means that a new snapshot is due.
func TestExpired(t *testing.T) {
	for name, status := range map[string]struct {
		code   int
		reason metav1.StatusReason
	}{
		"code and reason": {410, metav1.StatusReasonExpired},
		"code alone":      {410, ""},
		"Gone":            {410, metav1.StatusReasonGone},
	} {
		t.Run(name+" as event", func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				r, watch := synced(t, srv, "7")
				wantRelist(t, srv, r, func() { watch.Error(status.code, status.reason, "too old") })
			})
		})
		t.Run(name+" as answer", func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				r, watch := synced(t, srv, "7")
				srv.Expect(watchFrom("7")).Status(status.code, status.reason, "too old", 0)
				time.Sleep(290 * time.Second)
				wantRelist(t, srv, r, watch.Close)
			})
		})
	}
	t.Run("reason alone as event", func(t *testing.T) {
		eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
			r, watch := synced(t, srv, "7")
			wantRelist(t, srv, r, func() { watch.Error(0, metav1.StatusReasonExpired, "too old") })
		})
	})
}

// wantRelist checks that refuse leads to a new snapshot, at once.
func wantRelist(t *testing.T, srv *apitest.Server, r *rig, refuse func()) {
	t.Helper()
	srv.Expect(listFirst).List("20", "", object("b", "12"))
	srv.Expect(watchFrom("20")).Watch()
	refuse()
	r.want("Init", "InitApply b@12", "InitDone @20")
	r.wantErrors(1, "too old")
}

// After an outage, in which the delays have grown, a version that is too old is replaced at once.
// If that comes again before the watch was well for a while, it waits.
func TestExpiredAfterAnOutage(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, _ := synced(t, srv, "7")
		srv.Network().Refuse(true)
		srv.Network().Cut()
		time.Sleep(10 * time.Minute)
		refused := srv.Expect(watchFrom("7")).Status(410, metav1.StatusReasonExpired, "too old", 0)
		srv.Expect(listFirst).List("20", "", object("b", "12"))
		again := srv.Expect(watchFrom("20")).Watch()
		srv.Network().Refuse(false)
		for began := time.Now(); refused.Served() == 0; time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute+time.Second {
				t.Fatal("the watch was not tried for a minute")
			}
		}
		r.want("Init", "InitApply b@12", "InitDone @20") // in the same millisecond

		srv.Expect(listFirst).List("30", "")
		last := srv.Expect(watchFrom("30")).Watch()
		again.Error(410, metav1.StatusReasonExpired, "too old")
		r.want()
		afterBackoff(0) // the outage is over, and its delays with it
		r.want("Init", "InitDone @30")

		time.Sleep(121 * time.Second)
		srv.Expect(listFirst).List("40", "")
		srv.Expect(watchFrom("40")).Watch()
		last.Error(410, metav1.StatusReasonExpired, "too old")
		r.want("Init", "InitDone @40")
	})
}

// A version from the future, as that of a server whose storage was restored, is not kept for
// three of the delays that an outage leads to.
func TestRefusedAfterAnOutage(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, _ := synced(t, srv, "7")
		time.Sleep(10 * time.Second)
		srv.Network().Refuse(true)
		srv.Network().Cut()
		time.Sleep(10 * time.Minute)
		refused := srv.Expect(watchFrom("7")).Times(3).Status(504, metav1.StatusReasonTimeout, "Too large resource version", 0)
		srv.Expect(listFirst).List("5", "")
		srv.Expect(watchFrom("5")).Watch()
		srv.Network().Refuse(false)
		for refused.Served() == 0 {
			time.Sleep(time.Millisecond)
		}
		afterBackoff(0)
		afterBackoff(1)
		afterBackoff(2)
		r.want("Init", "InitDone @5")
	})
}

// An ERROR event that is not about the version: the same version is tried again.
func TestErrorEvent(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		watch.Send("ADDED", object("b", "8"))
		watch.Error(500, metav1.StatusReasonInternalError, "etcd is away")
		again := srv.Expect(watchFrom("8")).Watch()
		r.want("Apply b@8")
		r.wantErrors(1, "etcd is away")
		if watch.Open() {
			t.Error("the connection with the error stays open while the watcher waits")
		}
		afterBackoff(0)
		again.Send("ADDED", object("c", "9"))
		r.want("Apply c@9")
	})
}

// A version that the server keeps refusing is given up, whatever the words of the refusal.
func TestVersionKeepsBeingRefused(t *testing.T) {
	for name, answer := range map[string]func(*apitest.Expectation){
		"400": func(e *apitest.Expectation) { e.Status(400, metav1.StatusReasonBadRequest, "cannot parse", 0) },
		"500": func(e *apitest.Expectation) { e.Status(500, metav1.StatusReasonInternalError, "cannot", 0) },
		"too large": func(e *apitest.Expectation) {
			e.Status(504, metav1.StatusReasonTimeout, "Too large resource version", 0)
		},
		"ends at once": func(e *apitest.Expectation) {
			w := e.Watch()
			for range 3 {
				w.Close()
			}
		},
		"breaks at once": func(e *apitest.Expectation) {
			w := e.Watch()
			for range 3 {
				w.Abort()
			}
		},
		"error event": func(e *apitest.Expectation) {
			w := e.Watch()
			for range 3 {
				w.Error(500, metav1.StatusReasonInternalError, "cannot")
				w.Close()
			}
		},
		"garbage": func(e *apitest.Expectation) {
			e.Reply(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte("{\"type\":\"ADDED\",\"object\":]}\n"))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				srv.Expect(listFirst).List("7", "")
				answer(srv.Expect(watchFrom("7")).Times(3))
				r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
				afterBackoff(0)
				afterBackoff(1)
				r.want("Init", "InitDone @7")
				r.wantErrors(3, "watch configmaps in namespace default: ")

				srv.Expect(listFirst).List("20", "")
				srv.Expect(watchFrom("20")).Watch()
				afterBackoff(2)
				r.want("Init", "InitDone @20")
			})
		})
	}
}

// A server that is away or busy says nothing about the version, however long it takes.
func TestOutageKeepsVersion(t *testing.T) {
	for name, down := range map[string]func(*apitest.Server) (up func()){
		"refused connections": func(srv *apitest.Server) func() {
			srv.Network().Refuse(true)
			return func() { srv.Network().Refuse(false) }
		},
		"503": func(srv *apitest.Server) func() {
			e := srv.Expect(watchFrom("7")).Always().Status(503, metav1.StatusReasonServiceUnavailable, "starting", 0)
			return func() { e.Times(0) }
		},
		"429": func(srv *apitest.Server) func() {
			e := srv.Expect(watchFrom("7")).Always().Status(429, metav1.StatusReasonTooManyRequests, "storage is (re)initializing", 0)
			return func() { e.Times(0) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				r, _ := synced(t, srv, "7")
				up := down(srv)
				srv.Network().Cut()
				time.Sleep(10 * time.Minute)
				r.want()
				state := r.wantState(watcher.Retrying, "7")
				if state.LastError == nil || state.Failures < 5 {
					t.Errorf("got state %+v, want several failures", state)
				}
				if log := r.logged(); strings.Count(log, "level=WARN") > 2 {
					t.Errorf("an outage is told once per kind of failure, and logged:\n%s", log)
				}

				again := srv.Expect(watchFrom("7")).Watch()
				up()
				time.Sleep(time.Minute)
				again.Send("ADDED", object("b", "8"))
				r.want("Apply b@8")
				if state := r.wantState(watcher.Watching, "8"); state.LastError != nil {
					t.Errorf("got state %+v, want it healthy", state)
				}
				if log := r.logged(); !strings.Contains(log, `level=INFO msg="watch works again" resource=configmaps`) {
					t.Errorf("the end of the outage is not in the log:\n%s", log)
				}
			})
		})
	}
}

// A watch that breaks is resumed from the last version, that of an event or of a bookmark.
func TestWatchIsResumed(t *testing.T) {
	for name, cut := range map[string]func(*apitest.Server, *apitest.Watch){
		"closed":     func(_ *apitest.Server, w *apitest.Watch) { w.Close() },
		"aborted":    func(_ *apitest.Server, w *apitest.Watch) { w.Abort() },
		"connection": func(srv *apitest.Server, _ *apitest.Watch) { srv.Network().Cut() },
		"garbage":    func(_ *apitest.Server, w *apitest.Watch) { w.Write([]byte("\xff\xff\xff\xff garbage\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				r, watch := synced(t, srv, "7")
				watch.Send("ADDED", object("b", "8"))
				r.want("Apply b@8")
				second := srv.Expect(watchFrom("8")).Watch()
				time.Sleep(10 * time.Second)
				cut(srv, watch)
				time.Sleep(10 * time.Second)
				second.Bookmark("30")
				r.want("Bookmark @30")

				third := srv.Expect(watchFrom("30")).Watch()
				cut(srv, second)
				time.Sleep(10 * time.Second)
				third.Send("MODIFIED", object("b", "31"))
				r.want("Apply b@31")
			})
		})
	}
}

// A clean end costs nothing: the watch is resumed at once, and nobody hears of it.
func TestServerTimeout(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		since := r.wantState(watcher.Watching, "7").Since
		for range 10 {
			next := srv.Expect(watchFrom("7")).Watch()
			time.Sleep(290 * time.Second)
			watch.Close()
			synctest.Wait()
			if !next.Open() {
				t.Fatal("the watch was not resumed at once")
			}
			watch = next
		}
		r.want()
		r.wantErrors(0, "")
		if state := r.wantState(watcher.Watching, "7"); state.Since != since {
			t.Error("resuming a watch is not a change of the phase")
		}
	})
}

// A connection that says nothing is dead.
func TestIdleLimit(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		time.Sleep(200 * time.Second)
		watch.Bookmark("8") // what comes starts the limit anew
		r.want("Bookmark @8")
		time.Sleep(294 * time.Second)
		synctest.Wait()
		if !watch.Open() {
			t.Fatal("the watch was cut too early")
		}
		next := srv.Expect(watchFrom("8")).Watch()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if watch.Open() || !next.Open() {
			t.Fatal("the silent watch was not replaced")
		}
		r.wantErrors(1, "nothing came from the server for too long")
		next.Send("ADDED", object("b", "9"))
		r.want("Apply b@9")
	})
}

// An event without a version leaves nothing to resume from.
func TestEventWithoutVersion(t *testing.T) {
	for _, typ := range []string{"ADDED", "MODIFIED", "DELETED"} {
		t.Run(typ, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				r, watch := synced(t, srv, "7")
				watch.Send(typ, object("b", ""))
				r.want()
				r.wantErrors(1, "no resource version")
				srv.Expect(listFirst).List("20", "", object("b", "12"))
				srv.Expect(watchFrom("20")).Watch()
				afterBackoff(0)
				r.want("Init", "InitApply b@12", "InitDone @20")
			})
		})
	}
}

// An object that is broken to its metadata is passed on, and stops nothing.
func TestBrokenObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, watch := synced(t, apitest.Start(t, nil), "7")
		watch.Write([]byte(`{"type":"ADDED","object":{"metadata":{"name":"broken","resourceVersion":8}}}` + "\n"))
		watch.Write([]byte(`{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"9","labels":[]}}}` + "\n"))
		watch.Send("ADDED", object("c", "10"))
		r.want("Apply broken@", "Apply b@9", "Apply c@10")
		r.wantErrors(0, "")
	})
}

func TestBookmarkWithoutVersion(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		watch.Bookmark("")
		r.want()
		r.wantState(watcher.Watching, "7")
	})
}
