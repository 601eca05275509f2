package watcher

import (
	"context"
	"errors"
	"iter"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/fields"
)

// Object yields the state of the object called name: the object, or false while there is none,
// at first and whenever it changes. It ends and recovers as [Watcher.Events] does. api has to
// be of one namespace, or of a cluster-scoped kind.
func Object[K any](ctx context.Context, api kube.API[K], name string, opts *Options) iter.Seq2[resource.Lazy[K], bool] {
	return func(yield func(resource.Lazy[K], bool) bool) {
		o := newObject(api.Endpoint(), name, opts)
		for event := range o.engine.Events(ctx) {
			if !o.take(event) {
				continue
			}
			var lazy resource.Lazy[K]
			if o.shown != nil {
				lazy = resource.AsLazy[K](o.shown)
			}
			if !yield(lazy, o.shown != nil) {
				return
			}
		}
	}
}

// object follows one object.
type object struct {
	engine  *Engine
	listing bool          // within a snapshot
	listed  *resource.Raw // what the snapshot has so far
	shown   *resource.Raw // what was yielded last
	any     bool          // something was yielded
}

func newObject(endpoint kube.Endpoint, name string, opts *Options) *object {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	byName := fields.OneTermEqualSelector("metadata.name", name).String()
	if o.Fields != "" {
		byName = o.Fields + "," + byName
	}
	o.Fields = byName
	engine := NewEngine(endpoint, &o)
	switch {
	case engine.invalid != nil:
	case name == "":
		engine.invalid = errors.New("watcher: Object needs a name")
	case endpoint.Namespace() == "" && endpoint.Descriptor().Scope == resource.NamespaceScoped:
		engine.invalid = errors.New("watcher: Object needs an API of one namespace: a name alone does not say which object of all namespaces is meant")
	}
	return &object{engine: engine}
}

// take takes in an event, and reports whether there is something new to show.
func (o *object) take(event RawEvent) (news bool) {
	switch event.Type {
	case Init:
		o.listing, o.listed = true, nil
	case InitApply:
		o.listed = event.Object
	case InitDone:
		o.listing = false
		return o.show(o.listed)
	case Apply:
		return o.show(event.Object)
	case Delete:
		if o.listing {
			o.listed = nil
			return false
		}
		return o.show(nil)
	}
	return false
}

func (o *object) show(now *resource.Raw) (news bool) {
	news = !o.any || (now == nil) != (o.shown == nil) ||
		now != nil && (now.UID() != o.shown.UID() || now.ResourceVersion() != o.shown.ResourceVersion())
	o.any, o.shown = true, now
	return news
}
