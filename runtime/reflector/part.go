package reflector

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// part is what one watch has gathered: all that a store has, or the objects of one namespace.
type part struct {
	engine   *watcher.Engine
	building *snapshot // the snapshot under way; of the writer

	// What follows is guarded by the lock of the cache.

	table   *table
	version string // empty until the first snapshot is complete
	synced  bool   // it is
}

func newPart(engine *watcher.Engine) *part { return &part{engine: engine, table: newTable(0)} }

// append appends the objects of p to dst. The caller holds mu.
func (p *part) append(dst []*resource.Raw) []*resource.Raw {
	dst = slices.Grow(dst, p.table.len)
	for raw := range p.table.objects() {
		dst = append(dst, raw)
	}
	return dst
}

// part returns where the objects of a namespace are, if anywhere, or nil. The caller holds mu.
func (c *cache) part(namespace string) *part {
	if c.whole != nil {
		return c.whole
	}
	return c.parts[namespace]
}

// partOf returns the part that keeps a namespace, or nil. The caller holds mu.
func (c *cache) partOf(namespace string) *part {
	only := c.engine.Endpoint().Namespace()
	if only != "" && only != namespace && c.descriptor.Scope != resource.ClusterScoped {
		return nil
	}
	return c.part(namespace)
}

// readyIn reports whether all objects of a namespace are there.
func (c *cache) readyIn(namespace string) bool {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	p := c.partOf(namespace)
	return p != nil && p.synced
}

// versionIn returns how far the store has come in a namespace.
func (c *cache) versionIn(namespace string) string {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	if p := c.partOf(namespace); p != nil {
		return p.version
	}
	return ""
}

// readyParts returns the namespaces of which all objects are there, sorted.
func (c *cache) readyParts() []string {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	var ready []string
	for name, p := range c.parts {
		if p.synced {
			ready = append(ready, name)
		}
	}
	slices.Sort(ready)
	return ready
}

// complete reports whether every part has its first snapshot. The caller holds mu.
func (c *cache) complete() bool {
	for _, p := range c.parts {
		if !p.synced {
			return false
		}
	}
	return c.known
}

// lowest returns the version that every part has reached; empty is none. The caller holds mu.
func (c *cache) lowest() (version string) {
	for _, p := range c.parts {
		if p.version == "" {
			return ""
		}
		if version == "" || olderThan(p.version, version) {
			version = p.version
		}
	}
	return version
}

func olderThan(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order < 0
}

// why returns why an object of a namespace is not there.
func (c *cache) why(namespace string) error {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	p := c.partOf(namespace)
	switch {
	case p == nil && c.known:
		return ErrOutside
	case p == nil || !p.synced:
		return ErrNotReady
	}
	return ErrAbsent
}
