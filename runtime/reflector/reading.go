package reflector

import (
	"context"
	"sync"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
)

// reading is what the watch of a cache reads, and how. The first who asks for a kind may do so in a form that
// takes longer to read than that of the next one, JSON in place of protobuf: controllers begin at about the
// same time, in any order. So another form can be chosen until the first snapshot is complete. After that
// the watch stays as it is.
type reading struct {
	mu     sync.Mutex
	engine *watcher.Engine
	cut    context.CancelFunc // has the loop that reads go over to engine; nil before
	fixed  bool
}

func (r *reading) current() *watcher.Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engine
}

// begin returns what is to be read. The context ends when it is something else.
func (r *reading) begin(ctx context.Context) (*watcher.Engine, context.Context, context.CancelFunc) {
	ctx, cut := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	return r.engine, ctx, cut
}

// fix reports whether engine is what is read, and will be.
func (r *reading) fix(engine *watcher.Engine) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == engine {
		r.fixed = true
	}
	return r.fixed
}

// change has endpoint read, unless it is too late, or gives no better form.
func (r *reading) change(endpoint kube.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fixed || !better(endpoint, r.engine.Endpoint()) {
		return
	}
	r.engine = r.engine.Of(endpoint)
	if r.cut != nil {
		r.cut()
	}
}

// better reports whether what comes from a is the same as what comes from b in a form that takes less time and
// memory. Both are of one kind. Metadata is protobuf for all of them.
func better(a, b kube.Endpoint) bool {
	x, y := a.Descriptor(), b.Descriptor()
	return !x.MetadataOnly && !y.MetadataOnly && x.Protobuf && !y.Protobuf
}

// read has c read what comes from endpoint, if that is better, and not too late.
func (c *cache) read(endpoint kube.Endpoint) {
	if c.namespaces == nil {
		c.reading.change(endpoint.Keeping(c.kept))
	}
}

// follow takes in what is read, and reports whether something else is to be read then.
func (c *cache) follow(ctx context.Context) (again bool) {
	engine, within, cut := c.reading.begin(ctx)
	defer cut()
	for event := range engine.Events(within) {
		if event.Type == watcher.InitDone && !c.reading.fix(engine) {
			break
		}
		c.take(c.whole, event)
	}
	return ctx.Err() == nil && c.reading.current() != engine
}
