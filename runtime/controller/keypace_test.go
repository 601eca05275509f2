package controller

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A key that is triggered all the time is slowed down, and no other waits for it.
func TestKeyRateSlowsThatKeyAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("busy"), r.object("calm"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprintf("%s %d", w.Name, w.Spec.Size))
			return Await(), nil
		}, &Options{KeyRate: Rate{PerSecond: 0.1, Burst: 2}, Concurrency: 1})
		r.start(ctl)
		synctest.Wait()
		r.clear() // each has used one of its two
		time.Sleep(500 * time.Millisecond)
		for i := range 25 {
			w.Send("MODIFIED", r.object("busy", size(i+1)))
			if i == 14 {
				w.Send("MODIFIED", r.object("calm", size(1)))
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		r.want(t, "500ms busy 1", "10s busy 10", "14.5s calm 1", "20s busy 20", "30s busy 25")
	})
}

func TestKeyPacesForgetWhatIsAsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeyPaces(Rate{PerSecond: 1})
		for i := range 10 * leastSwept {
			k.spend(objectKey{Name: fmt.Sprint(i)})
			time.Sleep(10 * time.Millisecond)
			if len(k.paces) > 2*leastSwept {
				t.Fatalf("%d keys are remembered of the 100 that ran within a second", len(k.paces))
			}
		}
		last := objectKey{Name: fmt.Sprint(10*leastSwept - 1)}
		if wait := k.wait(last); wait != 990*time.Millisecond {
			t.Errorf("the last has to wait %s, want 990ms", wait)
		}
		if wait := k.wait(objectKey{Name: "0"}); wait != 0 {
			t.Errorf("the first has to wait %s", wait)
		}
	})
}
