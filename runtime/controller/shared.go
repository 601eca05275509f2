package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// NewFrom is [New] for objects that a reflector holds already, which several controllers, and other
// parts of a program, can share: there is one watch and one copy of the objects for all of
// them. The reflector is run by the caller, before or after the controller, and has to last as
// long: when it ends first, that is an error of Run. Indexes and changes of objects (Index, Modify) are
// the reflector's, and so are the options of the watch: [Options.Watch] has to be empty.
func NewFrom[K any](objects *reflector.Reflector[K], reconcile func(ctx context.Context, obj *K) (Action, error), opts *Options) *Controller[K] {
	need(objects != nil && reconcile != nil, "NewFrom")
	c := newController(newEngine(objects.Endpoint(), opts), objects, reconcile)
	c.engine.cache = sharedCache[K]{c.engine.cache, objects}
	c.engine.takeNamespaces(objects.Namespaces())
	c.engine.labels, c.engine.fields = objects.Selectors()
	if opts != nil && !reflect.ValueOf(opts.Watch).IsZero() && c.engine.invalid == nil {
		c.engine.invalid = fmt.Errorf("Options.Watch is set, and the controller does not watch: it is made from a reflector, which has options of its own")
	}
	if c.engine.opts.OwnWatch && c.engine.invalid == nil {
		c.engine.invalid = fmt.Errorf("Options.OwnWatch is set, and the controller does not watch: it is made from a reflector")
	}
	return c
}

// OwnsFrom is [Controller.Owns] for objects that a reflector holds already. The caller runs the
// reflector. A reconciler that reads its store sees what it wrote itself: see [Options.OwnWrites].
func (c *Controller[K]) OwnsFrom[O any](objects *reflector.Reflector[O]) *Source {
	need(objects != nil, "OwnsFrom")
	return feed(c.engine.relate("OwnsFrom", objects.Endpoint(), c.owners), objects)
}

// WatchesFrom is [Controller.Watches] for objects that a reflector holds already. The caller runs
// the reflector.
func (c *Controller[K]) WatchesFrom[O any](objects *reflector.Reflector[O], find func(obj *O) []resource.Ref[K]) *Source {
	need(objects != nil && find != nil, "WatchesFrom")
	return feed(c.engine.relate("WatchesFrom", objects.Endpoint(), found(c, find)), objects)
}

// feed has s follow a reflector in place of a watch.
func feed[O any](s *Source, objects *reflector.Reflector[O]) *Source {
	s.feed, s.given = objects.Feed(s.engine.patience()), true
	s.options.Labels, s.options.Fields = objects.Selectors()
	return s
}

// errFeedEnded says that somebody has ended the reflector of a controller.
var errFeedEnded = errors.New("the reflector has ended before the controller that is made from it")

// sharedCache is a cache that somebody else runs.
type sharedCache[K any] struct {
	cache
	objects *reflector.Reflector[K]
}

// run returns when ctx ends, or an error when the reflector does.
func (c sharedCache[K]) run(ctx context.Context) error {
	err := c.objects.Store().WaitFor(ctx, strconv.FormatUint(math.MaxUint64, 10)) // which never comes
	if err == nil || !lasts(ctx) {
		return nil
	}
	return fmt.Errorf("%w: %w", errFeedEnded, err)
}

// lasts reports whether ctx goes on although a reflector has ended. Where one context is the end of
// both, the reflector may hear of it first.
func lasts(ctx context.Context) bool {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
