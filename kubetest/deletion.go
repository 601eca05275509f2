package kubetest

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deletion is what becomes of an object that is asked to go.
type deletion struct {
	content  runtime.Object // a copy of the object, with the marks of deletion, in the version of storage
	meta     metav1.Object
	graceful bool // the object stays until its grace period is over
	pending  bool // the object is going already, and nothing changes
	grace    int64
	held     bool // the kind has a reason of its own to wait
}

func newDeletion(rq *request, live *object, options *metav1.DeleteOptions) *deletion {
	d := &deletion{content: live.copy()}
	d.meta = accessor(d.content)
	options = options.DeepCopy()
	if g := options.GracePeriodSeconds; g != nil && *g < 0 {
		options.GracePeriodSeconds = new(int64(1))
	}
	d.decide(rq, options)
	if d.pending {
		return d
	}
	d.setFinalizers(rq.kind.strategy, options)
	if hold := rq.kind.strategy.hold; hold != nil {
		d.held = hold(d.content)
	}
	return d
}

// decide finds out about the grace period. Of an object that is going already, it can only
// become shorter.
func (d *deletion) decide(rq *request, options *metav1.DeleteOptions) {
	gracefully := rq.kind.strategy.gracefully
	switch {
	case gracefully == nil:
	case d.meta.GetDeletionTimestamp() != nil:
		d.shorten(options.GracePeriodSeconds)
	case gracefully(rq, d.content, options) && options.GracePeriodSeconds != nil:
		d.graceful, d.grace = true, *options.GracePeriodSeconds
		at := metav1.NewTime(time.Now().Add(time.Duration(d.grace) * time.Second))
		d.meta.SetDeletionTimestamp(&at)
		d.meta.SetDeletionGracePeriodSeconds(&d.grace)
		d.count()
	}
}

// shorten applies another grace period to an object that is going already.
func (d *deletion) shorten(grace *int64) {
	had := d.meta.GetDeletionGracePeriodSeconds()
	switch {
	case had == nil || *had == 0:
		return
	case grace == nil || *grace >= *had:
		d.pending = true
		return
	}
	d.graceful, d.grace = true, *grace
	at := d.meta.GetDeletionTimestamp().Add(time.Duration(*grace-*had) * time.Second)
	if now := time.Now(); at.Before(now) {
		at = now
		if d.grace != 0 {
			d.grace = 1 // somebody is still to end it
		}
	}
	d.meta.SetDeletionTimestamp(&metav1.Time{Time: at})
	d.meta.SetDeletionGracePeriodSeconds(&d.grace)
}

// mark says that the object is going, without a grace period.
func (d *deletion) mark() {
	now := metav1.NewTime(time.Now())
	at := d.meta.GetDeletionTimestamp()
	if at == nil {
		d.count()
	}
	if at == nil || at.After(now.Time) {
		d.meta.SetDeletionTimestamp(&now)
	}
	d.meta.SetDeletionGracePeriodSeconds(new(int64(0)))
}

// count makes a deletion another generation, for controllers to notice.
func (d *deletion) count() {
	if g := d.meta.GetGeneration(); g > 0 {
		d.meta.SetGeneration(g + 1)
	}
}

// waits reports whether the object has to stay for now.
func (d *deletion) waits() bool { return len(d.meta.GetFinalizers()) > 0 || d.grace > 0 || d.held }

// setFinalizers adds or removes what makes the garbage collector act.
func (d *deletion) setFinalizers(s *strategy, options *metav1.DeleteOptions) {
	had := d.meta.GetFinalizers()
	kept := slices.DeleteFunc(slices.Clone(had), isGarbageFinalizer)
	switch policyOf(s, options, had) {
	case metav1.DeletePropagationOrphan:
		kept = append(kept, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		kept = append(kept, metav1.FinalizerDeleteDependents)
	}
	if !sameSet(had, kept) {
		d.meta.SetFinalizers(kept)
	}
}

func isGarbageFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
}

// policyOf returns what becomes of dependents: what the client says, else what finalizers
// say, else what is usual for the kind.
func policyOf(s *strategy, options *metav1.DeleteOptions, finalizers []string) metav1.DeletionPropagation {
	orphans := options.OrphanDependents //nolint:staticcheck // old clients send it
	switch {
	case s.noGarbage:
		return metav1.DeletePropagationBackground
	case orphans != nil && *orphans:
		return metav1.DeletePropagationOrphan
	case orphans != nil:
		return metav1.DeletePropagationBackground
	case options.PropagationPolicy != nil:
		return *options.PropagationPolicy
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	case s.orphans:
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

func sameSet(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			return false
		}
	}
	return true
}
