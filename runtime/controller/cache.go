package controller

import (
	"context"
	"iter"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cache is the engine's view of the controller's own objects, without their type.
type cache interface {
	run(ctx context.Context) error
	waitReady(ctx context.Context) error
	waitFor(ctx context.Context, version string) error
	version() string
	// parts returns how far the cache has come in a namespace and how to wait for more, where it is of
	// several that are watched apart; nil where it is not.
	parts() *parts
	changes(ctx context.Context) iter.Seq[change]
	get(key objectKey) (raw *resource.Raw, ok bool)
	all() iter.Seq[*resource.Raw]
	state() watcher.State
	namespaceStates() map[string]watcher.State
}

// change is a [reflector.Change] without its type.
type change struct {
	raw              *resource.Raw
	deleted, initial bool
}

// typedCache implements cache.
type typedCache[K any] struct{ *reflector.Reflector[K] }

func (c typedCache[K]) run(ctx context.Context) error { return c.Run(ctx) }

func (c typedCache[K]) waitReady(ctx context.Context) error { return c.Store().WaitReady(ctx) }

func (c typedCache[K]) waitFor(ctx context.Context, version string) error {
	return c.Store().WaitFor(ctx, version)
}

func (c typedCache[K]) version() string { return c.Store().Stats().ResourceVersion }

func (c typedCache[K]) parts() *parts {
	if c.Namespaces() == nil {
		return nil
	}
	return &parts{c.Store().VersionIn, c.Store().WaitForIn}
}

func (c typedCache[K]) state() watcher.State { return c.State() }

func (c typedCache[K]) namespaceStates() map[string]watcher.State { return c.NamespaceStates() }

func (c typedCache[K]) get(key objectKey) (*resource.Raw, bool) {
	lazy, ok := c.Store().Lazy(resource.Ref[K](key))
	return lazy.Raw, ok
}

func (c typedCache[K]) all() iter.Seq[*resource.Raw] {
	return func(yield func(*resource.Raw) bool) {
		for lazy := range c.Store().All() {
			if !yield(lazy.Raw) {
				return
			}
		}
	}
}

func (c typedCache[K]) changes(ctx context.Context) iter.Seq[change] {
	return func(yield func(change) bool) {
		for ch := range c.Changes(ctx) {
			if !yield(change{ch.Object.Raw, ch.Deleted, ch.Initial}) {
				return
			}
		}
	}
}

// metadataOnly returns an object with the metadata of raw, which does not decode, and nothing
// else.
func metadataOnly[K any](raw *resource.Raw) *K {
	obj := new(K)
	m, ok := any(obj).(metav1.Object)
	if !ok {
		return obj
	}
	m.SetNamespace(raw.Namespace())
	m.SetName(raw.Name())
	m.SetUID(raw.UID())
	m.SetResourceVersion(raw.ResourceVersion())
	m.SetGeneration(raw.Generation())
	m.SetCreationTimestamp(raw.CreationTimestamp())
	m.SetDeletionTimestamp(raw.DeletionTimestamp())
	m.SetLabels(raw.Labels())
	m.SetAnnotations(raw.Annotations())
	m.SetOwnerReferences(raw.OwnerReferences())
	m.SetFinalizers(raw.Finalizers())
	return obj
}
