package reflector_test

import (
	"testing"
	"time"

	"github.com/go-kube/kube/internal/apitest"
)

// The tests of this file hold mistakes that another cache made, the reflector of kube-rs, and that
// must not be made here. The numbers are those of the list that they were collected in;
// runtime/testdata/lessons.txt has the whole list.

// 2: what a broken streaming list had brought was merged into the next one.
func TestRegression02NoGhostsOfABrokenList(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		broken := srv.Expect(stream).Watch()
		broken.Send("ADDED", object("a", "1"))
		broken.Send("ADDED", object("ghost", "11"))
		watch.Error(410, "Expired", "too old")
		time.Sleep(2 * time.Second)
		broken.Abort()
		send(srv.Expect(stream).Watch(), "20", object("a", "1"))
		time.Sleep(time.Minute)
		wantStore(t, r, "a@1")
	})
}

// 5: only the store knew what had vanished during an outage; those who follow it were not told.
func TestRegression05FollowersHearWhatVanished(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"), object("lost", "2"))
		f := follow(t, r, nil)
		f.want("=a@1 =lost@2")
		send(srv.Expect(stream).Watch(), "20", object("a", "1"))
		watch.Error(410, "Expired", "too old")
		time.Sleep(time.Minute)
		f.want("-lost@2")
	})
}

// 6: followers were not told of deletions, and slept on a key that was gone until the next event.
func TestRegression06ADeletionWakesFollowers(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		f, release := slow(t, r)
		watch.Send("ADDED", object("passing", "11"))
		watch.Send("DELETED", object("passing", "12"))
		watch.Send("DELETED", object("a", "13"))
		watch.Send("ADDED", object("b", "14"))
		wantStore(t, r, "b@14")
		release()
		f.want("=a@1", "-passing@12", "-a@13", "b@14")
	})
}
