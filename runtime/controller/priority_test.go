package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// byName ranks reasons by their name.
func byName(r Reason) Priority {
	return Priority(slices.Index([]string{"low", "normal", "high"}, r.Name)) + Low
}

func ranked() *scheduler[string] {
	s := newScheduler[string](0, 0)
	s.rank = byName
	return s
}

func TestSchedulerRunsHigherPrioritiesFirst(t *testing.T) {
	s := ranked()
	for i, name := range []string{"low", "normal", "high", "low", "normal", "high"} {
		s.trigger(0, fmt.Sprint(i), because(name))
	}
	wantRuns(t, s, second, "2:high", "5:high", "1:normal", "4:normal", "0:low", "3:low")
	wantEmpty(t, s)
}

func TestSchedulerRaisesAKeyThatIsTriggeredAgain(t *testing.T) {
	s := ranked()
	for _, key := range []string{"a", "b", "c"} {
		s.trigger(0, key, because("low"))
	}
	s.trigger(0, "d", because("normal"))
	s.trigger(0, "b", because("normal"))
	s.schedule(0, "c", 0, because("high"))
	s.trigger(0, "d", because("low")) // lowers nothing
	wantRuns(t, s, second, "c:low", "d:normal", "b:low", "a:low")
	wantEmpty(t, s)
}

func TestSchedulerForgetsThePriorityOfARunThatBegan(t *testing.T) {
	s := ranked()
	s.trigger(0, "a", because("high"))
	a := s.next(0)
	s.trigger(0, "a", because("low")) // while it runs
	s.trigger(0, "b", because("normal"))
	s.finish(0, a, outcome{})
	wantRuns(t, s, second, "b:normal", "a:low")
}

func TestSchedulerKeepsThePriorityOverTime(t *testing.T) {
	s := ranked()
	s.schedule(0, "a", time.Second, because("low"))
	s.schedule(0, "b", 2*time.Second, because("normal"))
	s.schedule(0, "c", 3*time.Second, because("low"))
	wantRuns(t, s, 5*second, "b:normal", "a:low", "c:low")
}

func TestNoPriorityStarves(t *testing.T) {
	s := ranked()
	s.trigger(0, "low", because("low"))
	s.trigger(0, "normal", because("normal"))
	var got []int
	for i := range 30 {
		s.trigger(0, fmt.Sprint("high", i), because("high"))
		s.trigger(0, fmt.Sprint("more", i), because("high"))
		e := s.next(0)
		if e.reason.Name != "high" {
			got = append(got, i)
		}
		s.finish(0, e, outcome{})
	}
	if diff := cmp.Diff([]int{patience, patience + 1}, got); diff != "" {
		t.Errorf("turns of the lower priorities (-want +got):\n%s", diff)
	}
}

func TestPaceIsATokenBucket(t *testing.T) {
	p := newPace(Rate{PerSecond: 10})
	took := func(now moment) (n int) {
		for ; p.free(now) <= now; n++ {
			p.spend(now)
		}
		return n
	}
	if n := took(0); n != 10 {
		t.Errorf("%d runs at once, want 10", n)
	}
	if n := took(second / 2); n != 5 {
		t.Errorf("%d runs after half a second, want 5", n)
	}
	if p.refund(); took(second/2) != 1 {
		t.Error("a run that did not take place was not given back")
	}
	if n := took(3600 * second); n != 10 {
		t.Errorf("%d runs after an hour, want 10", n)
	}
	if slow := newPace(Rate{PerSecond: 1e-12, Burst: 1000}); slow.interval <= 0 || slow.burst < slow.interval {
		t.Errorf("%+v of a tiny rate", slow)
	}
}
