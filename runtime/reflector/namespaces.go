package reflector

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Namespaces is the set of namespaces that a store is of, see [Options]: a [*NamespaceSet], which
// the program names, or a [*NamespaceSelector], which goes by labels. Both may change while
// reflectors run. One value can be used with any number of reflectors and controllers, of any kinds:
// those that share their watches do so when they have the same *NamespaceSet, or selectors of the
// same labels.
type Namespaces interface {
	// err returns why what endpoint spans cannot be of these namespaces.
	err(endpoint kube.Endpoint) error
	// key is equal for those that are the same set at any time.
	key() any
	// fill fills c until ctx ends.
	fill(ctx context.Context, c *cache)
	// state returns what the watches of c are doing.
	state(c *cache) watcher.State
}

// NamespaceSet is a set of namespaces that the program names. Its methods are safe for
// concurrent use. Make one with [NewNamespaceSet].
type NamespaceSet struct {
	mu      sync.Mutex
	names   []string // sorted; replaced and not changed
	invalid error
	changed chan struct{} // closed when names are replaced
}

// NewNamespaceSet returns a set of namespaces, which need not exist. A name that no namespace can
// have is an error of [Reflector.Run].
func NewNamespaceSet(names ...string) *NamespaceSet {
	s := &NamespaceSet{changed: make(chan struct{})}
	s.names, s.invalid = namespaceNames(names)
	return s
}

// Set makes names all that is in the set. Reflectors that run follow at once: the objects of a
// namespace that is new are listed, those of one that is not in the set any more leave the store as if
// they had been deleted. Nothing changes when the error names one that no namespace can have.
func (s *NamespaceSet) Set(names ...string) error {
	sorted, err := namespaceNames(names)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalid = nil
	if slices.Equal(s.names, sorted) {
		return nil
	}
	s.names = sorted
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Names returns what is in the set, sorted.
func (s *NamespaceSet) Names() []string {
	names, _ := s.current()
	return slices.Clone(names)
}

func (s *NamespaceSet) current() (names []string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names, s.changed
}

// sets yields the set, and again whenever it has changed.
func (s *NamespaceSet) sets(ctx context.Context) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			names, changed := s.current()
			if !yield(names) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *NamespaceSet) err(endpoint kube.Endpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.invalid, divisible(endpoint))
}

func (s *NamespaceSet) key() any { return s }

func (s *NamespaceSet) fill(ctx context.Context, c *cache) { c.fillParts(ctx, s.sets(ctx)) }

func (s *NamespaceSet) state(c *cache) watcher.State {
	return worst(slices.Collect(maps.Values(c.states())))
}

// namespaceNames returns names sorted, each once.
func namespaceNames(names []string) ([]string, error) {
	for _, name := range names {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return nil, fmt.Errorf("reflector: %q is no name of a namespace: %s", name, wrong[0])
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), nil
}

// divisible returns why what endpoint spans cannot be of several namespaces.
func divisible(endpoint kube.Endpoint) error {
	switch kind := endpoint.Descriptor(); {
	case kind.Scope == resource.ClusterScoped:
		return fmt.Errorf("reflector: Options.Namespaces is set, and %s are not in namespaces", kind.GroupResource())
	case endpoint.Namespace() != "":
		return fmt.Errorf("reflector: Options.Namespaces is set for %s of namespace %q alone: use the API of all namespaces, client.All(kind)",
			kind.GroupResource(), endpoint.Namespace())
	}
	return nil
}
