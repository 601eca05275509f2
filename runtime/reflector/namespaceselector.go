package reflector

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// NamespaceSelector is the namespaces that have certain labels. It is safe for concurrent use.
// Make one with [SelectNamespaces].
type NamespaceSelector struct {
	client *kube.Client
	labels string
	watch  atomic.Pointer[Reflector[namespaceMetadata]] // that runs, or did last
}

// namespaceMetadata is the type of namespaces as they are watched; they are never decoded.
type namespaceMetadata struct{}

// SelectNamespaces returns the namespaces that labels, a label selector, selects; empty is all.
// A reflector that runs with it watches the metadata of namespaces as well, through client, which
// needs to be allowed to: one watch serves all such reflectors. A namespace that is
// created, or gets the labels, joins; one that is deleted, or loses them, leaves the
// store together with its objects. A selector that does not parse is an error of
// [Reflector.Run].
func SelectNamespaces(client *kube.Client, labels string) *NamespaceSelector {
	return &NamespaceSelector{client: client, labels: labels}
}

func (s *NamespaceSelector) err(endpoint kube.Endpoint) error {
	if s.client == nil {
		return errors.New("reflector: SelectNamespaces got no client: pass the one to watch namespaces with")
	}
	if _, err := resource.ParseSelector(s.labels); err != nil {
		return fmt.Errorf("reflector: SelectNamespaces: %w", err)
	}
	return divisible(endpoint)
}

// selectorKey is the key of a selector: its labels in the form that all of the same meaning have.
type selectorKey struct {
	client *kube.Client
	labels string
}

func (s *NamespaceSelector) key() any {
	selector, err := resource.ParseSelector(s.labels)
	if err != nil {
		return s
	}
	return selectorKey{s.client, selector.String()}
}

func (s *NamespaceSelector) endpoint() kube.Endpoint {
	info := resource.Info{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	return s.client.All(resource.Dynamic(info, resource.ClusterScoped)).Endpoint().Metadata()
}

// fill watches the namespaces, and has c follow.
func (s *NamespaceSelector) fill(ctx context.Context, c *cache) {
	r := ForEndpoint[namespaceMetadata](s.endpoint(), &Options{
		Share: true,
		Watch: watcher.Options{Labels: s.labels, OnError: c.onError, Logger: c.log},
	})
	s.watch.Store(r)
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		if err := r.Run(ctx); err != nil {
			c.log.Error("namespaces are not watched", "error", err)
		}
	})
	c.fillParts(ctx, selected(ctx, r))
}

// selected yields the names of the namespaces in r, and again whenever one came or went.
func selected(ctx context.Context, r *Reflector[namespaceMetadata]) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if r.Store().WaitReady(ctx) != nil {
			return
		}
		names := map[string]bool{}
		for namespace := range r.Store().All() {
			names[strings.Clone(namespace.Name())] = true
		}
		if !yield(slices.Sorted(maps.Keys(names))) {
			return
		}
		for change := range r.Changes(ctx) {
			name := strings.Clone(change.Ref().Name)
			if names[name] == !change.Deleted {
				continue
			}
			if change.Deleted {
				delete(names, name)
			} else {
				names[name] = true
			}
			if !yield(slices.Sorted(maps.Keys(names))) {
				return
			}
		}
	}
}

// state returns the state of the watch of namespaces while that is in trouble, and else that of the
// watches of objects.
func (s *NamespaceSelector) state(c *cache) watcher.State {
	r := s.watch.Load()
	if r == nil {
		return c.engine.State()
	}
	return worst(append(slices.Collect(maps.Values(c.states())), r.State()))
}
