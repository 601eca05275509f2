package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// everywhere stands for all namespaces that a store is of.
const everywhere = ""

// waiter waits until a cache has reached a version, everywhere or in one namespace.
type waiter struct {
	namespace string
	version   string // empty is any, that of the first snapshot included
	done      chan struct{}
}

// reached reports whether there is nothing more for w to wait for. The caller holds mu.
func (c *cache) reached(w *waiter) bool {
	if w.namespace != everywhere {
		p := c.partOf(w.namespace)
		return p != nil && w.passed(p)
	}
	for _, p := range c.parts {
		if !w.passed(p) {
			return false
		}
	}
	return c.known
}

// passed reports whether p has the version waited for or a later one. A version that cannot be
// compared is never reached.
func (w *waiter) passed(p *part) bool {
	if w.version == "" {
		return p.synced
	}
	order, err := resourceversion.CompareResourceVersion(p.version, w.version)
	return err == nil && order >= 0
}

// waitReady waits for the first snapshot.
func (c *cache) waitReady(ctx context.Context) error {
	for {
		c = c.now()
		select {
		case <-c.ready:
			return nil
		case <-ctx.Done():
			if c.isReady() {
				return nil
			}
			return c.gaveUp("has no snapshot yet", context.Cause(ctx))
		case <-c.stopped:
			if c.isReady() {
				return nil
			}
			if c.next.Load() == nil {
				return c.gaveUp("has no snapshot", ErrStopped)
			}
		}
	}
}

// waitVersion waits until the cache has reached version in a namespace.
func (c *cache) waitVersion(ctx context.Context, namespace, version string) error {
	w, c := c.await(namespace, version)
	if w == nil {
		return nil
	}
	defer c.forget(w)
	for {
		select {
		case <-w.done:
			return nil
		case <-ctx.Done():
			return c.gaveUp(c.behind(w), context.Cause(ctx))
		case <-c.stopped:
			next := c.next.Load()
			if next == nil {
				return c.gaveUp(c.behind(w), ErrStopped)
			}
			c = next
		}
	}
}

// checkVersion refuses what is no version of an object.
func checkVersion(version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("reflector: %q is no resource version of an object: it has to be a positive number", version)
	}
	return nil
}

// await returns a waiter for version and where it waits, or nil when it is reached already.
func (c *cache) await(namespace, version string) (*waiter, *cache) {
	w := &waiter{namespace, version, make(chan struct{})}
	c = c.lock()
	defer c.mu.Unlock()
	if c.reached(w) {
		return nil, c
	}
	c.waiters[w] = struct{}{}
	return w, c
}

func (c *cache) forget(w *waiter) {
	c = c.lock()
	defer c.mu.Unlock()
	delete(c.waiters, w)
}

func (c *cache) behind(w *waiter) string {
	where, version := "", ""
	c = c.lockToRead()
	if w.namespace == everywhere {
		version = c.lowest()
	} else {
		where = " in namespace " + w.namespace
		if p := c.partOf(w.namespace); p != nil {
			version = p.version
		} else {
			where += ", which it does not keep,"
		}
	}
	c.mu.RUnlock()
	if w.version == "" {
		return "has no snapshot" + where
	}
	return fmt.Sprintf("is at resource version %q%s and has not reached %s", version, where, w.version)
}

// gaveUp is the error of waiting in vain. What the watcher is struggling with belongs to it:
// it usually is the reason.
func (c *cache) gaveUp(what string, cause error) error {
	kind := c.descriptor.GroupResource()
	if last := c.state().LastError; last != nil {
		return fmt.Errorf("reflector: the store of %s %s: %w; last failure: %w", kind, what, cause, last)
	}
	return fmt.Errorf("reflector: the store of %s %s: %w", kind, what, cause)
}
