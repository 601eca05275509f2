package watcher_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

// The tests of this file hold mistakes that another watcher made, that of kube-rs, and that must
// not be made here. The numbers are those of the list that they were collected in;
// runtime/testdata/lessons.txt has the whole list.

// 2: a streaming list that broke half-way went on without a new Init and without a delay, so that
// a watch of one object took what was deleted meanwhile for present.
func TestRegression02ABrokenStreamingListStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect("GET " + path + "?watch=true&sendInitialEvents=true").Watch()
		watch.Send("ADDED", object("a", "1"))
		var present []bool
		go func() {
			for _, is := range watcher.Object(t.Context(), srv.Client().Namespaced(core.ConfigMaps, "default"), "a", nil) {
				present = append(present, is)
			}
		}()
		synctest.Wait()
		watch.Abort()
		again := srv.Expect("GET " + path + "?watch=true&sendInitialEvents=true").Watch()
		again.InitialEventsEnd("7")
		time.Sleep(800 * time.Millisecond / 2)
		synctest.Wait()
		if n := len(srv.Requests()); n != 1 {
			t.Errorf("%d requests before the delay is over, want 1", n)
		}
		afterBackoff(0)
		synctest.Wait()
		if len(present) != 1 || present[0] {
			t.Errorf("yielded %v, want the absence of the object alone", present)
		}
	})
}

// 3: a version that was refused with an HTTP status was tried again for ever, and after an error
// event the same connection was read on.
func TestRegression03ARefusedVersionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		r, watch := synced(t, srv, "7")
		refusals := srv.Expect(watchFrom("7")).Always()
		refusals.Status(410, metav1.StatusReasonExpired, "too old resource version", 0)
		time.Sleep(time.Minute)
		srv.Expect(listFirst).List("20", "")
		next := srv.Expect(watchFrom("20")).Watch()
		watch.Close()
		time.Sleep(time.Minute)
		r.want("Init", "InitDone @20")
		if n := refusals.Served(); n != 1 {
			t.Errorf("the refused version was tried %d times, want once", n)
		}

		next.Error(500, metav1.StatusReasonInternalError, "cannot")
		next.Send("ADDED", object("unheard", "21"))
		srv.Expect(watchFrom("20")).Watch().Send("ADDED", object("heard", "22"))
		time.Sleep(time.Minute)
		r.want("Apply heard@22")
	})
}

// 4: that a version is too old was told by the number 410 alone.
func TestRegression04ExpiredIsToldByItsReason(t *testing.T) {
	for _, reason := range []metav1.StatusReason{metav1.StatusReasonExpired, metav1.StatusReasonGone} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, nil)
				r, watch := synced(t, srv, "7")
				srv.Expect(listFirst).List("20", "")
				srv.Expect(watchFrom("20")).Watch()
				watch.Error(0, reason, "the version is too old")
				time.Sleep(time.Minute)
				r.want("Init", "InitDone @20")
			})
		})
	}
}

// 8: the delay between failing lists never grew, as each try began with an event of success.
func TestRegression08TheBackoffOfListsGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect(listFirst).Always().Reply(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "down", 500) })
		start(t, srv, watcher.Options{InitialList: watcher.ListWatch})
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		all := gaps(srv.Requests())
		for i, gap := range all {
			if least := min(800*time.Millisecond<<i, 30*time.Second); gap < least {
				t.Errorf("delay %d is %s, want %s at least", i, gap, least)
			}
		}
		if len(all) < 6 {
			t.Errorf("%d delays, want 6 at least in three minutes", len(all))
		}
	})
}
