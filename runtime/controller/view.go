package controller

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// view is one watch of a controller, as those see it who wait until it has seen a write. What
// is below mu of the tracker is guarded by that.
type view struct {
	kind      schema.GroupResource
	namespace string // empty for all
	labels    resource.Selector
	fields    fields.Selector
	// live returns the hashed uid of the object that the watch shows under a name, unless it is
	// being deleted.
	live func(objectKey) (uid uint64, ok bool)
	// version returns how far the cache of the view has come; nil where the view is told.
	version func() string
	parts   *parts        // of a cache of several namespaces
	wake    chan struct{} // holds a token when there may be something to wait for

	active    bool   // the first list is complete
	seen      uint64 // resource version
	versions  []awaitedVersion
	deletions map[objectKey][]awaitedDeletion
}

// awaitedVersion is a write that a watch has not shown yet. They are sorted by version.
type awaitedVersion struct {
	version   uint64
	namespace string // of the object
	by        *unseen
}

// parts is a cache of several namespaces, each with a watch of its own: how far one has come says
// nothing of another.
type parts struct {
	version func(namespace string) string
	waitFor func(ctx context.Context, namespace, version string) error
}

// maxPartWait bounds the wait for one namespace: it may leave the cache, and others may be further.
const maxPartWait = time.Second

// wait waits until the cache has come to a in its namespace, but not too long. The error is that of
// ctx or the end of the cache.
func (p *parts) wait(ctx context.Context, a awaitedVersion) error {
	bounded, cancel := context.WithTimeout(ctx, maxPartWait)
	defer cancel()
	err := p.waitFor(bounded, a.namespace, strconv.FormatUint(a.version, 10))
	if errors.Is(err, reflector.ErrStopped) {
		return err
	}
	return ctx.Err()
}

// seen reports whether the cache has come to version in a namespace.
func (p *parts) seen(namespace string, version uint64) bool {
	number, ok := parseVersion(p.version(namespace))
	return ok && number >= version
}

type awaitedDeletion struct {
	uid uint64
	by  *unseen
}

func newView(endpoint kube.Endpoint, labelSelector, fieldSelector string, live func(objectKey) (uint64, bool)) *view {
	v := &view{
		kind: endpoint.Descriptor().GroupResource(), namespace: endpoint.Namespace(),
		live: live, wake: make(chan struct{}, 1), deletions: map[objectKey][]awaitedDeletion{},
	}
	// What does not parse is an error of Run.
	v.labels, _ = resource.ParseSelector(labelSelector)
	v.fields, _ = fields.ParseSelector(fieldSelector)
	return v
}

// covers reports whether the watch will show a write. One that it cannot judge it does.
func (v *view) covers(w *kube.Write, key objectKey) bool {
	if !v.active || v.kind != w.Kind.GroupResource() || v.namespace != "" && v.namespace != key.Namespace {
		return false
	}
	if v.selects(w, key) {
		return true
	}
	_, shown := v.live(key) // then the watch tells that it leaves
	return shown
}

// selects reports whether the object of a write may be one that the watch selects. Of the
// fields only those are looked at that every kind has.
func (v *view) selects(w *kube.Write, key objectKey) bool {
	if w.Object != nil && w.Subresource != "scale" && !v.labels.Matches(w.Object.GetLabels()) {
		return false
	}
	if v.fields == nil {
		return true
	}
	name, exact := v.fields.RequiresExactMatch("metadata.name")
	if exact && name != key.Name {
		return false
	}
	namespace, exact := v.fields.RequiresExactMatch("metadata.namespace")
	return !exact || namespace == key.Namespace
}

// await has v told when version was seen, for by. It returns false when it was seen already.
func (v *view) await(namespace string, version uint64, by *unseen) bool {
	switch {
	case v.parts != nil:
		// One that is not in the cache, or has just left it, is not waited for.
		if v.parts.version(namespace) == "" || v.parts.seen(namespace, version) {
			return false
		}
	case version <= v.seen:
		return false
	}
	at, _ := slices.BinarySearchFunc(v.versions, version, func(a awaitedVersion, version uint64) int {
		if a.version <= version {
			return -1
		}
		return 1
	})
	v.versions = slices.Insert(v.versions, at, awaitedVersion{version, namespace, by})
	select {
	case v.wake <- struct{}{}:
	default:
	}
	return true
}

// refresh returns who waited for what the cache of v has seen meanwhile.
func (v *view) refresh() (reached []*unseen) {
	if v.parts == nil {
		if version, ok := parseVersion(v.version()); ok {
			return v.advance(version)
		}
		return nil
	}
	v.versions = slices.DeleteFunc(v.versions, func(a awaitedVersion) bool {
		shown := v.parts.version(a.namespace) == "" || v.parts.seen(a.namespace, a.version)
		if shown {
			reached = append(reached, a.by)
		}
		return shown
	})
	return reached
}

// advance notes that the watch has come to version, and returns who waited for that.
func (v *view) advance(version uint64) (reached []*unseen) {
	v.seen = version
	n := 0
	for n < len(v.versions) && v.versions[n].version <= version {
		reached = append(reached, v.versions[n].by)
		n++
	}
	v.versions = v.versions[n:]
	if len(v.versions) == 0 {
		v.versions = nil
	}
	return reached
}

// awaitDeletion is await for the deletion of the object with a uid; an empty one is that of
// the object that has the name now.
func (v *view) awaitDeletion(key objectKey, uid types.UID, by *unseen) bool {
	shown, ok := v.live(key)
	if !ok || uid != "" && hashUID(uid) != shown {
		return false
	}
	key = key.owned()
	v.deletions[key] = append(v.deletions[key], awaitedDeletion{shown, by})
	return true
}

// ended notes that the object with a uid is gone or being deleted, and returns who waited for
// that.
func (v *view) ended(key objectKey, uid uint64) (reached []*unseen) {
	if len(v.deletions) == 0 {
		return nil
	}
	v.deletions[key] = slices.DeleteFunc(v.deletions[key], func(d awaitedDeletion) bool {
		if d.uid == uid {
			reached = append(reached, d.by)
		}
		return d.uid == uid
	})
	if len(v.deletions[key]) == 0 {
		delete(v.deletions, key)
	}
	return reached
}

// parseVersion returns a resource version as the number that it is (KEP-5504); ok is false for
// what cannot be compared.
func parseVersion(version string) (number uint64, ok bool) {
	number, err := strconv.ParseUint(version, 10, 64)
	return number, err == nil && number > 0
}
