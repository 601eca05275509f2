package reflector_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/reflector"
)

func TestChanges(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		early := follow(t, r, nil) // before Run
		run(t, r)
		watch.Send("ADDED", object("a", "1"))
		early.want() // nothing before the snapshot is complete
		send(watch, "10", object("b", "2"))
		early.want("=a@1 =b@2")

		watch.Send("MODIFIED", object("a", "11"))
		watch.Send("ADDED", object("c", "12"))
		early.want("a@11", "c@12")

		late := follow(t, r, nil) // gets the present state
		late.want("=a@11 =b@2 =c@12")
		watch.Send("DELETED", object("b", "13"))
		late.want("-b@13")
		early.want("-b@13")

		if got := r.Store().Stats().Subscribers; got != 2 {
			t.Errorf("got %d subscribers, want 2", got)
		}
		late.stop()
		if got := r.Store().Stats().Subscribers; got != 1 {
			t.Errorf("got %d subscribers after one has left, want 1", got)
		}
	})
}

// A new snapshot is told as the difference to the old one.
func TestRelistIsTheDifference(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("same", "1"), object("changed", "2"), object("gone", "3"), object("again", "4"))
		f := follow(t, r, nil)
		f.want("=same@1 =changed@2 =gone@3 =again@4")
		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		watch = again
		time.Sleep(2 * time.Second)
		for _, name := range []string{"passing", "passing"} { // came and went during the snapshot
			watch.Send("ADDED", object(name, "11"))
			watch.Send("DELETED", object(name, "12"))
		}
		send(watch, "20", object("same", "1"), object("changed", "13"), object("new", "14"), object("again", "15", uid("another")))
		// Deletions come first; an object with another uid is another object.
		f.want("-gone@3 -again@4", "changed@13 new@14 again@15")
	})
}

// An object of the store can be in a new snapshot, and go before that is complete.
func TestDeletedDuringRelist(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"), object("b", "2"), object("c", "3"))
		f := follow(t, r, nil)
		f.want("=a@1 =b@2 =c@3")
		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		watch = again
		time.Sleep(2 * time.Second)
		for _, o := range []*cm{object("a", "1"), object("b", "2"), object("c", "13")} {
			watch.Send("ADDED", o)
		}
		watch.Send("DELETED", object("a", "14"))
		watch.Send("DELETED", object("c", "15"))
		watch.Send("ADDED", object("c", "16", uid("another")))
		watch.InitialEventsEnd("20")
		f.want("-a@1 -c@3", "c@16")
		wantStore(t, r, "b@2", "c@16")
	})
}

// Nobody hears of an event that says what is known already.
func TestRepetitionIsNoChange(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		f := follow(t, r, nil)
		watch.Send("MODIFIED", object("a", "1"))
		f.want("=a@1")
	})
}

// An object whose deletion was missed, as its new uid tells, is told as deleted.
func TestMissedDeletion(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		f := follow(t, r, nil)
		watch.Send("ADDED", object("a", "12", uid("another")))
		f.want("=a@1", "-a@1", "a@12")
		wantStore(t, r, "a@12")
	})
}

// A deletion that speaks of another object than the store has still frees the name. What the
// store had is told as gone.
func TestDeletionOfAnotherObject(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		f := follow(t, r, nil)
		watch.Send("DELETED", object("a", "12", uid("another")))
		f.want("=a@1", "-a@1")
		wantStore(t, r)
	})
}

// slow returns a follower that is stuck after its first change until release is called.
func slow(t *testing.T, r *reflector.Reflector[cm]) (f *follower, release func()) {
	t.Helper()
	gate := make(chan struct{})
	stuck := true
	f = follow(t, r, func() {
		if stuck {
			<-gate
			stuck = false
		}
	})
	released := false
	release = func() {
		if !released {
			released = true
			close(gate)
		}
		synctest.Wait()
	}
	t.Cleanup(release)
	return f, release
}

// A slow follower gets the latest state, blocks nobody, and costs an entry per object.
func TestCoalescing(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		f, release := slow(t, r)
		other := follow(t, r, nil)
		f.want("=a@1")
		for i := range 1000 {
			watch.Send("MODIFIED", object("a", fmt.Sprint(11+2*i)))
			watch.Send("MODIFIED", object("b", fmt.Sprint(12+2*i)))
		}
		wantStore(t, r, "a@2009", "b@2010")
		if got := r.Store().Stats().Pending; got != 2 {
			t.Errorf("got %d pending changes, want 2", got)
		}
		release()
		f.want("a@2009", "b@2010")
		_ = other
	})
}

func TestCoalescedDeletions(t *testing.T) {
	for _, test := range []struct {
		name   string
		events func(*apitest.Watch)
		want   []string
	}{
		{"deleted", func(w *apitest.Watch) {
			w.Send("DELETED", object("b", "11"))
		}, []string{"-b@11"}},
		{"changed and deleted", func(w *apitest.Watch) {
			w.Send("MODIFIED", object("b", "11"))
			w.Send("DELETED", object("b", "12"))
		}, []string{"-b@12"}},
		{"came and went", func(w *apitest.Watch) {
			w.Send("ADDED", object("c", "11"))
			w.Send("DELETED", object("c", "12"))
		}, []string{"b@2", "-c@12"}},
		{"deleted and created again", func(w *apitest.Watch) {
			w.Send("DELETED", object("b", "11"))
			w.Send("ADDED", object("b", "12", uid("second")))
			w.Send("MODIFIED", object("b", "13", uid("second")))
		}, []string{"-b@11", "b@13"}},
		{"deleted, created and deleted", func(w *apitest.Watch) {
			w.Send("DELETED", object("b", "11"))
			w.Send("ADDED", object("b", "12", uid("second")))
			w.Send("DELETED", object("b", "13", uid("second")))
		}, []string{"-b@11", "-b@13"}},
		{"created again and again", func(w *apitest.Watch) {
			w.Send("DELETED", object("b", "11"))
			for i := range 100 {
				w.Send("ADDED", object("b", fmt.Sprint(20+2*i), uid(nth(i))))
				w.Send("DELETED", object("b", fmt.Sprint(21+2*i), uid(nth(i))))
			}
			w.Send("ADDED", object("b", "300", uid("last")))
		}, []string{"-b@11", "-b@219", "b@300"}},
		{"order of the first change", func(w *apitest.Watch) {
			w.Send("MODIFIED", object("b", "11"))
			w.Send("ADDED", object("c", "12"))
			w.Send("MODIFIED", object("b", "13"))
			w.Send("MODIFIED", object("a", "14"))
		}, []string{"b@13", "c@12", "a@14"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, nil)
				r, watch := started(t, srv, nil, object("a", "1"))
				f, release := slow(t, r)
				f.want("=a@1")
				watch.Send("ADDED", object("b", "2"))
				synctest.Wait()
				test.events(watch)
				synctest.Wait()
				release()
				f.want(test.want...)
			})
		})
	}
}

// What changes while the present state is replayed is told once.
func TestChangesDuringReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		r, watch := started(t, srv, nil, object("a", "1"), object("b", "2"), object("c", "3"))
		f, release := slow(t, r)
		f.mu.Lock()
		first := f.seen[0]
		f.seen = nil
		f.mu.Unlock()
		for _, name := range []string{"a", "b", "c"} {
			watch.Send("MODIFIED", object(name, "11"))
		}
		synctest.Wait()
		release()
		replayed := map[string]string{"=a@1": "=b@11 =c@11", "=b@2": "=a@11 =c@11", "=c@3": "=a@11 =b@11"}
		f.want(replayed[first], first[1:3]+"11")
	})
}

func TestDeletedDuringReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		r, watch := started(t, srv, nil, object("a", "1"), object("b", "1"), object("c", "1"))
		f, release := slow(t, r)
		for _, name := range []string{"a", "b", "c"} {
			watch.Send("DELETED", object(name, "11"))
		}
		synctest.Wait()
		f.mu.Lock()
		f.seen = nil
		f.mu.Unlock()
		release()
		f.want("-a@11 -b@11 -c@11")
	})
}

// The sequence ends with the reflector, after what there was to tell.
func TestChangesEndWithTheReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect(stream).Watch()
		send(watch, "10", object("a", "1"))
		r := newReflector(srv, nil)
		stop := run(t, r)
		f, release := slow(t, r)
		watch.Send("ADDED", object("b", "11"))
		synctest.Wait()
		stop()
		release()
		f.want("=a@1", "b@11")
		n := 0
		for range r.Changes(t.Context()) { // nothing more comes, so it does not wait
			n++
		}
		if n != 2 {
			t.Errorf("got %d objects from a stopped reflector, want the 2 that it has", n)
		}
	})
}

// Followers come and go, and see everything, while the store changes.
func TestManyFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		r, watch := started(t, srv, nil)
		var followers []*follower
		for i := range 50 {
			watch.Send("MODIFIED", object(fmt.Sprint("o", i%5), fmt.Sprint(100+i)))
			followers = append(followers, follow(t, r, nil))
		}
		synctest.Wait()
		for _, f := range followers {
			f.mu.Lock()
			last := map[string]string{}
			for _, s := range f.seen {
				last[s[len(s)-6:len(s)-4]] = s[len(s)-3:]
			}
			f.mu.Unlock()
			for i := range 5 {
				if got, want := last[fmt.Sprint("o", i)], fmt.Sprint(145+i); got != want {
					t.Errorf("a follower saw o%d at %s last, want %s", i, got, want)
				}
			}
		}
	})
}
