package kubetest

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deleteOne answers DELETE on an object.
func deleteOne(w http.ResponseWriter, rq *request) error {
	options, err := rq.deleteOptions()
	if err != nil {
		return err
	}
	o, gone, err := rq.delete(rq.name, options)
	if err != nil {
		return err
	}
	if !gone || rq.kind.strategy.returnsDeleted {
		code := http.StatusOK
		if orphans := options.OrphanDependents; !gone && orphans != nil && !*orphans { //nolint:staticcheck // old clients
			code = http.StatusAccepted
		}
		return rq.respond(w, code, o)
	}
	return rq.respondBody(w, http.StatusOK, &metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: o.meta.GetName(), Group: rq.group, Kind: rq.resource, UID: o.meta.GetUID(),
		},
	}, statusKind)
}

// delete removes an object, or marks it as to be removed when there is something to wait for:
// a grace period, finalizers, the garbage collector. It reports whether the object is gone,
// and returns its last state.
func (rq *request) delete(name string, options *metav1.DeleteOptions) (o *object, gone bool, err error) {
	for {
		live := rq.kind.table.get(key{rq.objectNamespace(), name})
		if live == nil {
			return nil, false, rq.notFound(name)
		}
		o, gone, err := rq.deleteLive(live, options)
		if !errors.Is(err, errChanged) {
			return o, gone, err
		}
	}
}

// restoreDeletion gives an object that is loaded the time of its deletion again.
func (rq *request) restoreDeletion(m metav1.Object) {
	if rq.deletedAt != nil && m.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(rq.deletedAt)
	}
}

func (rq *request) deleteLive(live *object, options *metav1.DeleteOptions) (*object, bool, error) {
	if begin := rq.kind.strategy.beginDelete; begin != nil && live.meta.GetDeletionTimestamp() == nil && rq.verb == verbDelete {
		going, err := begin(rq, live.content, options)
		if err != nil {
			return nil, false, err
		}
		rq.restoreDeletion(accessor(going))
		o, err := rq.replace(going, live)
		return o, false, err
	}
	if err := rq.checkPreconditions(live, options.Preconditions); err != nil {
		return nil, false, err
	}
	if err := rq.admitDelete(live); err != nil {
		return nil, false, err
	}
	d := newDeletion(rq, live, options)
	if d.pending {
		return live, false, nil
	}
	if !d.graceful && !d.held && len(d.meta.GetFinalizers()) > 0 {
		d.mark()
	}
	if d.waits() {
		rq.restoreDeletion(d.meta)
		o, err := rq.replace(d.content, live)
		return o, false, err
	}
	if rq.dryRun {
		return live, true, nil
	}
	if d.graceful {
		// The end of the grace period is an update of its own, which watchers see.
		marked, err := rq.replace(d.content, live)
		if err != nil {
			return nil, false, err
		}
		live = marked
	}
	last, err := rq.kind.table.remove(live.key(), live)
	return last, true, err
}

func (rq *request) checkPreconditions(live *object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	name := live.meta.GetName()
	if rq.kind.table == rq.server.store.namespaces {
		return rq.checkNamespacePreconditions(live, p)
	}
	gr := schema.GroupResource{Group: rq.kind.Group, Resource: rq.kind.Kind}
	if uid := live.meta.GetUID(); p.UID != nil && *p.UID != uid {
		return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, uid))
	}
	if version := live.meta.GetResourceVersion(); p.ResourceVersion != nil && *p.ResourceVersion != version {
		return apierrors.NewConflict(gr, name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, version))
	}
	return nil
}

// checkNamespacePreconditions has the words of the registry of namespaces, which deletes in a
// way of its own.
func (rq *request) checkNamespacePreconditions(live *object, p *metav1.Preconditions) error {
	failed := func(what string, want, have any) error {
		return apierrors.NewConflict(namespaces, live.meta.GetName(),
			fmt.Errorf("Precondition failed: %[1]s in precondition: %[2]v, %[1]s in object meta: %[3]v", what, want, have))
	}
	switch {
	case p.UID != nil && *p.UID != live.meta.GetUID():
		return failed("UID", *p.UID, live.meta.GetUID())
	case p.ResourceVersion != nil && *p.ResourceVersion != live.meta.GetResourceVersion():
		return failed("ResourceVersion", *p.ResourceVersion, live.meta.GetResourceVersion())
	}
	return nil
}

func (rq *request) admitDelete(live *object) error {
	if rq.kind.strategy.admitDelete == nil {
		return nil
	}
	return rq.kind.strategy.admitDelete(rq, rq.kind.convert(live))
}
