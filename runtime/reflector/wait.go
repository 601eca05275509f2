package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// waiter waits until a cache has reached a version.
type waiter struct {
	version string
	done    chan struct{}
}

// reached reports whether version is the one waited for or later. A version that cannot be
// compared is never reached.
func (w *waiter) reached(version string) bool {
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && order >= 0
}

// waitReady waits for the first snapshot.
func (c *cache) waitReady(ctx context.Context) error {
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
		return c.gaveUp("has no snapshot", ErrStopped)
	}
}

// waitVersion waits until the cache has reached version.
func (c *cache) waitVersion(ctx context.Context, version string) error {
	w := c.await(version)
	if w == nil {
		return nil
	}
	defer c.forget(w)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return c.gaveUp(c.behind(version), context.Cause(ctx))
	case <-c.stopped:
		return c.gaveUp(c.behind(version), ErrStopped)
	}
}

// checkVersion refuses what is no version of an object.
func checkVersion(version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("reflector: %q is no resource version of an object: it has to be a positive number", version)
	}
	return nil
}

// await returns a waiter for version, or nil when it is reached already.
func (c *cache) await(version string) *waiter {
	w := &waiter{version, make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.reached(c.version) {
		return nil
	}
	c.waiters[w] = struct{}{}
	return w
}

func (c *cache) forget(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiters, w)
}

func (c *cache) behind(version string) string {
	return fmt.Sprintf("is at resource version %q and has not reached %s", c.stats().ResourceVersion, version)
}

// gaveUp is the error of waiting in vain. What the watcher is struggling with belongs to it:
// it usually is the reason.
func (c *cache) gaveUp(what string, cause error) error {
	kind := c.descriptor.GroupResource()
	if last := c.engine.State().LastError; last != nil {
		return fmt.Errorf("reflector: the store of %s %s: %w; last failure: %w", kind, what, cause, last)
	}
	return fmt.Errorf("reflector: the store of %s %s: %w", kind, what, cause)
}
