package reflector_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/internal/apitest"
)

// kube-rs' DelayedInit: any number may wait for the first snapshot, before and after it, and all of
// them are woken, whoever came first or has given up meanwhile.
func TestManyWaitForTheFirstSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		run(t, r)
		var wg sync.WaitGroup
		var mu sync.Mutex
		woken := 0
		wait := func() {
			wg.Go(func() {
				if err := r.Store().WaitReady(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				woken++
			})
		}
		for range 10 {
			wait()
			time.Sleep(100 * time.Millisecond)
		}
		mu.Lock()
		if woken != 0 {
			t.Errorf("%d were woken before the snapshot", woken)
		}
		mu.Unlock()
		send(watch, "10", object("a", "1"))
		synctest.Wait()
		for range 10 {
			wait()
		}
		wg.Wait()
		if woken != 20 {
			t.Errorf("%d of 20 were woken", woken)
		}
	})
}
