package wait

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
	"k8s.io/apimachinery/pkg/types"
)

// ErrEnded is the error of waiting that ended before the condition held.
var ErrEnded = errors.New("the condition did not come true")

// For waits until c holds for the object called name, and returns the object as it is then: nil
// where the condition holds because there is none. api has to be of one namespace, or of a
// cluster-scoped kind.
//
// There is no limit of time but that of ctx, at whose end the error has its cause, the
// last failure of the watch if it is failing, and [ErrEnded]. Failures of the server are waited
// out. An error of the condition ends the waiting at once, see [ErrFailed], and comes with the
// object; so does the error of an object that does not decode, with nil.
func For[K any](ctx context.Context, api kube.API[K], name string, c Condition[K]) (*K, error) {
	var last lastError
	opts := &watcher.Options{OnError: last.set}
	for lazy, exists := range watcher.Object(ctx, api, name, opts) {
		last.set(nil) // whatever it was, it is over
		var obj *K
		if exists {
			var err error
			if obj, err = lazy.Decode(); err != nil {
				return nil, describe(api, name, err)
			}
		}
		done, err := c(obj)
		if done || err != nil {
			return obj, describe(api, name, err)
		}
	}
	return nil, describe(api, name, last.join(context.Cause(ctx)))
}

// describe names what was waited for.
func describe[K any](api kube.API[K], name string, err error) error {
	if err == nil {
		return nil
	}
	e := api.Endpoint()
	if e.Namespace() != "" {
		name = e.Namespace() + "/" + name
	}
	return fmt.Errorf("wait for %s %s: %w", e.Descriptor().GroupResource(), name, err)
}

// lastError is what the watch is failing with.
type lastError struct {
	mu  sync.Mutex
	err error
}

func (l *lastError) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lastError) join(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case cause == nil: // the options of the watch were not valid
		return l.err
	case l.err != nil:
		return fmt.Errorf("%w: %w; last failure: %w", ErrEnded, cause, l.err)
	}
	return fmt.Errorf("%w: %w", ErrEnded, cause)
}

// Delete deletes the object called name and waits until it is gone: until its finalizers are
// done and its grace period is over. Another object that is made under the name meanwhile is
// not waited for. It fails as [kube.API.Delete] and [For] do.
func Delete[K any](ctx context.Context, api kube.API[K], name string, opts *kube.DeleteOptions) error {
	if opts != nil && opts.DryRun {
		return api.Delete(ctx, name, opts)
	}
	uid := types.UID("")
	err := api.Delete(kube.WithWriteObserver(ctx, func(w kube.Write) { uid = w.UID }), name, opts)
	if err != nil {
		return err
	}
	if uid == "" {
		return describe(api, name, errors.New("the server did not say which object it deleted"))
	}
	_, err = For(ctx, api, name, Deleted[K](uid))
	return err
}
