package watcher_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/watcher"
)

// The tests of this file are what users of other clients had to report, where no other test shows
// it; runtime/testdata/lessons.txt has the whole list.

// kube-rs#1986: the body of a refusal was read as events, line by line, and its Status was lost.
func TestLesson1986RefusalsAreNotReadAsEvents(t *testing.T) {
	const body = `{
  "kind": "Status",
  "apiVersion": "v1",
  "status": "Failure",
  "message": "configmaps is forbidden: no access",
  "reason": "Forbidden",
  "code": 403
}
`
	for name, spec := range map[string]string{"streaming list": streamList, "watch": watchFrom("7")} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
				srv.Expect(spec).Always().JSON(http.StatusForbidden, body)
				opts := watcher.Options{InitialList: watcher.StreamingList}
				if name == "watch" {
					opts.InitialList = watcher.ListWatch
					srv.Expect(listFirst).List("7", "")
				}
				r := start(t, srv, opts)
				time.Sleep(time.Minute)
				state := r.engine.State()
				if !errors.Is(state.LastError, kube.ErrForbidden) || !strings.Contains(state.LastError.Error(), "forbidden: no access") {
					t.Errorf("got %v, want the server's Status", state.LastError)
				}
			})
		})
	}
}

// kube-rs#1132: a role that allows to list and not to watch made a controller that ran once and
// then did nothing, without a word.
func TestLesson1132AWatchThatIsNotAllowedIsLoud(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect(strings.TrimSuffix(listFirst, "&resourceVersion=")).Always().List("7", "", object("a", "1"))
		srv.Expect("GET "+path+"?watch=true").Always().Status(403, metav1.StatusReasonForbidden, "cannot watch configmaps", 0)
		r := start(t, srv, watcher.Options{})
		time.Sleep(time.Hour)
		if state := r.engine.State(); !errors.Is(state.LastError, kube.ErrForbidden) || state.Failures < 10 {
			t.Errorf("state %+v, want the refusal and how often it came", state)
		}
		log := r.logged()
		if strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "cannot watch configmaps") {
			t.Errorf("log:\n%s\nwant one line at level ERROR", log)
		}
	})
}

// kubernetes_asyncio#431: servers answer watches with 429 while their storage gets ready. They
// say how long that takes, and no new list is due.
func TestLesson431AWatchWaitsAsLongAsItIsTold(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := synced(t, srv, "7")
		busy := srv.Expect(watchFrom("7")).Times(3)
		busy.Status(429, metav1.StatusReasonTooManyRequests, "storage is (re)initializing", 100*time.Second)
		time.Sleep(time.Minute)
		watch.Close()
		synctest.Wait()
		for want := 1; want <= 3; want++ {
			if n := busy.Served(); n != want {
				t.Fatalf("%d requests, want %d", n, want)
			}
			if want == 3 {
				srv.Expect(watchFrom("7")).Watch().Send("ADDED", object("b", "8"))
			}
			time.Sleep(101 * time.Second)
			synctest.Wait()
		}
		r.want("Apply b@8")
	})
}

// kube-rs#1092: a kind that can be listed and not watched was a watch without end or objects. It
// is followed by lists.
func TestLesson1092AKindThatCannotBeWatchedIsListed(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET "+path+"?watch=true").Always().Status(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource", 0)
		first := srv.Expect(strings.TrimSuffix(listFirst, "&resourceVersion=")).Always()
		first.List("7", "", object("a", "1"))
		r := start(t, srv, watcher.Options{})
		r.want("Init", "InitApply a@1", "InitDone @7")
		first.Times(0)
		srv.Expect(strings.TrimSuffix(listFirst, "&resourceVersion=")).Always().List("9", "", object("b", "8"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.Contains(r.events, "InitApply b@8") || len(r.events) > 3*10 {
			t.Errorf("events %q, want those of a few lists with the new object", r.events)
		}
	})
}

// kube-rs#1615: programs ended when a resource version had expired, since that was an error in
// the sequence. A loop over events ends with its context, whatever happens.
func TestLesson1615NothingButTheContextEndsALoop(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		troubles := []string{
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired"}}`,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}}`,
			`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}`,
			`{"type":"SOMETHING","object":{}}`,
			`{{{{ garbage`,
			`half a line, and`,
			``,
		}
		n := 0
		srv.Expect("GET " + path + "?watch=true").Always().Reply(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			http.NewResponseController(w).Flush()
			if n >= 3*len(troubles) {
				<-req.Context().Done()
				return
			}
			n++
			time.Sleep(100 * time.Second)
			io.WriteString(w, troubles[n%len(troubles)]+"\n")
			if n%2 == 0 {
				panic(http.ErrAbortHandler)
			}
		})
		srv.Expect("GET "+path+"?watch=").Always().List("7", "", object("a", "1"))
		r := start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		time.Sleep(3 * time.Hour)
		if state := r.engine.State(); state.Phase != watcher.Watching || state.LastError != nil || n != 3*len(troubles) {
			t.Errorf("state %+v after %d troubles, want all to be well after %d", state, n, 3*len(troubles))
		}
	})
}
