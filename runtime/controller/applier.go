package controller

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Applier applies objects and leaves out the requests that would change nothing: an apply whose
// content is what this Applier applied last, to an object that still has the version which that
// apply got, sends nothing. A reconciler that applies all that should be in each run costs the
// server nothing while the world is as it should be.
//
// Which version an object has it reads from a cache that the program has anyway: the store of the
// controller for the controller's own objects, that of a reflector for others. A change by
// anybody that the cache has seen is overwritten as by any apply; one that it has not is when
// the cache shows it and triggers the next run. An object that the cache does not hold is
// applied each time.
//
// What it remembers of an object is a few dozen bytes, and is forgotten when the object is
// gone. Make one with [NewApplier]. It is safe for concurrent use.
type Applier[K any] struct {
	api     kube.API[K]
	store   reflector.Store[K]
	manager string
	opts    *kube.ApplyOptions

	mu    sync.Mutex
	last  map[appliedKey]applied
	limit int // of last, before what is gone is looked for
	stats ApplierStats
}

// ApplierStats is what an [Applier] has done.
type ApplierStats struct {
	// Sent is the number of requests, Skipped of applies that needed none.
	Sent, Skipped uint64
}

type appliedKey struct {
	objectKey
	status bool
}

// applied is an apply and what came of it.
type applied struct {
	content uint64 // hashed
	version string
}

// minApplied is how many objects an Applier remembers before it looks for those that are gone.
const minApplied = 1024

// NewApplier returns an applier of the objects that api spans. store holds them, or some of
// them. fieldManager and opts, which may be nil and are copied, are those of [kube.API.Apply];
// dry runs are always sent.
func NewApplier[K any](api kube.API[K], store reflector.Store[K], fieldManager string, opts *kube.ApplyOptions) *Applier[K] {
	var o kube.ApplyOptions
	if opts != nil {
		o = *opts
	}
	return &Applier[K]{api: api, store: store, manager: fieldManager, opts: &o, last: map[appliedKey]applied{}, limit: minApplied}
}

// Apply makes the fields that are set in obj true, as [kube.API.Apply] does. The result is the
// server's answer, or the object as the cache has it where nothing had to be sent.
func (a *Applier[K]) Apply(ctx context.Context, obj *K) (*K, error) {
	return a.apply(ctx, obj, false, a.api.Apply)
}

// ApplyStatus is Apply for the status: see [kube.Status.Apply].
func (a *Applier[K]) ApplyStatus(ctx context.Context, obj *K) (*K, error) {
	return a.apply(ctx, obj, true, a.api.Status().Apply)
}

// Stats returns how many applies were sent and left out.
func (a *Applier[K]) Stats() ApplierStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stats
}

type applyFunc[K any] func(ctx context.Context, obj *K, fieldManager string, opts *kube.ApplyOptions) (*K, error)

func (a *Applier[K]) apply(ctx context.Context, obj *K, status bool, send applyFunc[K]) (*K, error) {
	key, content, ok := a.identify(obj, status)
	if !ok { // whatever is wrong with it, sending it tells
		return a.send(ctx, obj, send)
	}
	if current, ok := a.store.Lazy(resource.Ref[K](key.objectKey)); ok && a.done(key, applied{content, current.ResourceVersion()}) {
		if have, err := current.Decode(); err == nil {
			return have, nil
		}
	}
	got, err := a.send(ctx, obj, send)
	if m, ok := any(got).(metav1.Object); ok && err == nil && m.GetResourceVersion() != "" {
		a.remember(key, applied{content, m.GetResourceVersion()})
	}
	return got, err
}

func (a *Applier[K]) send(ctx context.Context, obj *K, send applyFunc[K]) (*K, error) {
	a.mu.Lock()
	a.stats.Sent++
	a.mu.Unlock()
	return send(ctx, obj, a.manager, a.opts)
}

// identify names an apply; ok is false for one that cannot be left out.
func (a *Applier[K]) identify(obj *K, status bool) (key appliedKey, content uint64, ok bool) {
	m, ok := any(obj).(metav1.Object)
	kind := a.api.Endpoint().Descriptor()
	if !ok || a.opts.DryRun || m.GetName() == "" {
		return key, 0, false
	}
	body, err := codec.EncodeApply(obj, kind.APIVersion(), kind.Kind, a.opts.Zero)
	if err != nil {
		return key, 0, false
	}
	key = appliedKey{objectKey{m.GetNamespace(), m.GetName()}, status}
	if key.Namespace == "" {
		key.Namespace = a.api.Endpoint().Namespace()
	}
	return key, maphash.Bytes(hashSeed, body), true
}

// done reports whether the last apply of key was what now says.
func (a *Applier[K]) done(key appliedKey, now applied) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last[key] != now {
		return false
	}
	a.stats.Skipped++
	return true
}

func (a *Applier[K]) remember(key appliedKey, now applied) {
	key.Name, now.version = strings.Clone(key.Name), strings.Clone(now.version)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.last) >= a.limit {
		a.prune()
	}
	a.last[key] = now
}

// prune forgets the objects that are gone.
func (a *Applier[K]) prune() {
	for key := range a.last {
		if _, ok := a.store.Lazy(resource.Ref[K](key.objectKey)); !ok {
			delete(a.last, key)
		}
	}
	a.limit = max(minApplied, 2*len(a.last))
}
