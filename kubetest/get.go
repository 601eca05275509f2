package kubetest

import (
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// get answers with one object.
func get(w http.ResponseWriter, rq *request) error {
	if values := rq.query["export"]; len(values) > 0 && values[0] != "false" && values[0] != "0" {
		return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	obj, err := rq.find()
	if err != nil {
		return err
	}
	return rq.respond(w, http.StatusOK, obj)
}

// find returns the object that the request names, as new as its parameters want it.
func (rq *request) find() (*object, error) {
	o := &metav1.GetOptions{}
	if err := rq.parameters(o); err != nil {
		return nil, err
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if err := rq.waitFor(revision, patience); err != nil {
		return nil, err
	}
	k := key{rq.objectNamespace(), rq.name}
	obj := rq.kind.table.get(k)
	if behind := rq.behind(revision); behind > 0 && o.ResourceVersion != "" {
		obj = rq.kind.table.getAt(k, behind)
	}
	if obj == nil {
		return nil, rq.notFound(rq.name)
	}
	return obj, nil
}

// parseRevision reads a resource version; empty is zero.
func parseRevision(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), s, err.Error())
	}
	return revision, nil
}

// patience is how long a read waits for a revision that is not there yet, as in a real server.
const patience = 3 * time.Second

// waitFor returns once the server is at a revision or newer.
func (rq *request) waitFor(revision uint64, patience time.Duration) error {
	var timeout <-chan time.Time
	for {
		current, advanced := rq.server.store.wait()
		if current >= revision {
			return nil
		}
		if timeout == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-advanced:
		case <-timeout:
			return tooLarge(revision, current)
		case <-rq.ctx.Done():
			return rq.ctx.Err()
		case <-rq.server.down():
			return errDown
		}
	}
}

// behind returns the revision at which a request sees the server that may see an old state of
// it, but not one older than atLeast. It is zero, for the newest one, unless there is a fault.
func (rq *request) behind(atLeast uint64) uint64 {
	if rq.lag == 0 {
		return 0
	}
	current := rq.server.store.current()
	return max(current-min(rq.lag, current), atLeast, rq.kind.table.floor())
}

// now returns the objects that a request sees that may see an old state, but not one older
// than atLeast.
func (rq *request) now(atLeast uint64, namespace string, keep func(*object) bool) snapshot {
	t := rq.kind.table
	if snap, ok := t.snapshot(rq.behind(atLeast), namespace, key{}, 0, keep); ok {
		return snap
	}
	snap, _ := t.snapshot(0, namespace, key{}, 0, keep) // the old state has just been forgotten
	return snap
}

// tooLarge says that a revision is not there yet.
func tooLarge(revision, current uint64) error {
	err := apierrors.NewTimeoutError("Too large resource version: "+formatRevision(revision)+", current: "+formatRevision(current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
