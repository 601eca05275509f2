package reflector

import (
	"context"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
)

// Feed tells what happens to objects, as a [watcher.Engine] does, to one who needs no store of
// them. Whom it hears it from is its own affair. Feeds and reflectors that share, were made from the
// same client and ask for the same have one watch between them: a feed alone has a
// watch and keeps nothing; where there is a store that has what it asks for, whole or the metadata, it
// follows that; and two feeds make a store, for what one of them has missed the other could not
// tell. So does a feed of several namespaces, since a namespace that leaves takes its objects along,
// which have to be known for that. What one does, or does not do, holds up no other, and costs one
// entry per object.
//
// Make one with [NewFeed], or with [Reflector.Feed] to follow that reflector and no other.
type Feed struct {
	engine  *watcher.Engine // of a watch of its own; nil where from is not
	from    *source         // the reflector that is followed
	opts    FeedOptions
	log     *slog.Logger
	follows atomic.Pointer[cache] // nil while its own watch is what it hears
}

// FeedOptions changes how a feed works.
type FeedOptions struct {
	// Watch says what is watched, and how.
	Watch watcher.Options
	// Namespaces has the feed be of these namespaces, as [Options] has it; nil is all that the endpoint
	// spans.
	Namespaces Namespaces
	// Patience is how long the first snapshot of several namespaces waits for those that cannot be
	// listed. What comes later is told as after any list, by a new snapshot. 0 waits for all; a
	// negative number for none.
	Patience time.Duration
	// Share has the feed use one watch together with others. Without it, it has its own.
	Share bool
}

// NewFeed returns a feed of what endpoint spans. opts, which may be nil, are copied; what is wrong
// with them, Err says.
func NewFeed(endpoint kube.Endpoint, opts *FeedOptions) *Feed {
	f := &Feed{}
	if opts != nil {
		f.opts = *opts
	}
	f.engine = watcher.NewEngine(endpoint, &f.opts.Watch)
	f.log = loggerOf(&f.opts.Watch, endpoint)
	return f
}

// Feed returns a feed of what the reflector keeps, which has to be run. patience is that of [FeedOptions].
func (r *Reflector[K]) Feed(patience time.Duration) *Feed {
	return &Feed{from: r.from, opts: FeedOptions{Namespaces: r.Namespaces(), Patience: patience}}
}

// Err returns what is wrong with the options, or nil.
func (f *Feed) Err() error {
	if f.engine == nil {
		return nil
	}
	if err := f.engine.Err(); err != nil || f.opts.Namespaces == nil {
		return err
	}
	return f.opts.Namespaces.err(f.engine.Endpoint())
}

// State returns what the watch is doing that the feed hears from. Of several it is the state of the one that is
// worst off.
func (f *Feed) State() watcher.State {
	if c := f.store(); c != nil {
		return c.state()
	}
	return f.engine.State()
}

// NamespaceStates returns what the watch of each namespace is doing, for a feed of several; nil
// for others.
func (f *Feed) NamespaceStates() map[string]watcher.State {
	if c := f.store(); c != nil {
		return c.namespaceStates()
	}
	return nil
}

// Namespaces returns of which namespaces the feed is; nil where one watch is for all of it.
func (f *Feed) Namespaces() Namespaces { return f.opts.Namespaces }

// VersionIn returns the resource version that a feed of several namespaces has come to in one of them;
// empty while it has not all objects of that.
func (f *Feed) VersionIn(namespace string) string {
	if c := f.store(); c != nil {
		return c.versionIn(namespace)
	}
	return ""
}

// ReadyIn returns the namespaces of which a feed of several has all objects, sorted.
func (f *Feed) ReadyIn() []string {
	if c := f.store(); c != nil && f.opts.Namespaces != nil {
		return c.readyParts()
	}
	return nil
}

// store returns the store that the feed follows at present, or nil.
func (f *Feed) store() *cache {
	if f.from != nil {
		return f.from.now()
	}
	if c := f.follows.Load(); c != nil {
		return c.now()
	}
	return nil
}

// Events yields a snapshot and what happens after it, until ctx ends; that of a reflector
// also ends with it. There is a new snapshot, from Init to InitDone, whenever the feed cannot
// say what came before: after a list, and when it goes over to another watch. A Bookmark
// tells how far it has come when nothing is left to tell; Apply and Delete may come without a
// version. Several changes of one object become one while the loop body runs, and an
// object can be yielded as deleted that never was before. When the options are not valid the sequence
// ends at once, and OnError and the log say why.
//
// One loop at a time can range over the events of a feed.
func (f *Feed) Events(ctx context.Context) iter.Seq[watcher.RawEvent] {
	switch {
	case f.from != nil:
		return f.from.events(ctx, f.opts.Patience)
	case f.engine.Err() != nil:
		return f.engine.Events(ctx) // which reports it
	case f.Err() != nil:
		return f.refuse
	case f.opts.Share:
		return func(yield func(watcher.RawEvent) bool) { f.run(ctx, yield) }
	case f.opts.Namespaces != nil:
		return func(yield func(watcher.RawEvent) bool) { f.runAlone(ctx, yield) }
	}
	return f.engine.Events(ctx)
}

// refuse reports what is wrong with the options.
func (f *Feed) refuse(func(watcher.RawEvent) bool) {
	err := f.Err()
	f.log.Error("feed cannot begin", "error", err)
	if f.opts.Watch.OnError != nil {
		f.opts.Watch.OnError(err)
	}
}

// run yields the events of one watch after the other.
func (f *Feed) run(ctx context.Context, yield func(watcher.RawEvent) bool) {
	all := jointsOf(f.engine)
	m := &member{feed: f, key: f.jointKey()}
	all.enter(m)
	defer all.exit(m)
	for more := true; more && ctx.Err() == nil; {
		more = f.follow(ctx, all, m, yield)
	}
}

func (f *Feed) jointKey() jointKey {
	return jointKey{watch: f.engine.Key(), namespaces: keyOfNamespaces(f.opts.Namespaces)}
}

// follow yields the events of the watch that is the best at present, until there is a better one.
// It returns false when the consumer breaks its loop.
func (f *Feed) follow(ctx context.Context, all *joints, m *member, yield func(watcher.RawEvent) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	user := newSource(false)
	user.onError, user.log = f.opts.Watch.OnError, f.log
	events := f.engine.Events(ctx)
	if j := all.place(ctx, m, user, cancel); j != nil {
		defer user.leave(all, j)
		user.greet(j.cache)
		f.follows.Store(j.cache)
		events = j.cache.events(ctx, f.opts.Patience)
	}
	defer f.follows.Store(nil)
	for event := range events {
		if !yield(event) {
			return false
		}
	}
	return true
}

// runAlone yields the events of a store of the feed's own.
func (f *Feed) runAlone(ctx context.Context, yield func(watcher.RawEvent) bool) {
	ctx, cancel := context.WithCancel(ctx)
	s, ended := f.newStore(), make(chan struct{})
	s.onError = f.opts.Watch.OnError
	go func() {
		defer close(ended)
		s.own.fill(ctx)
	}()
	defer func() {
		f.follows.Store(nil)
		cancel()
		<-ended
	}()
	f.follows.Store(s.own)
	s.own.events(ctx, f.opts.Patience)(yield)
}

// newStore returns what runs a store for the feed and others.
func (f *Feed) newStore() *source {
	s := newSource(false)
	opts := f.opts.Watch
	opts.OnError, opts.Logger = s.tellAll, s.shareLog(f.log)
	s.own = newWatchCache(f.engine.Endpoint(), &opts)
	s.own.onError, s.own.log = opts.OnError, opts.Logger
	if f.opts.Namespaces != nil {
		s.own.divide(f.opts.Namespaces)
	}
	s.cache.Store(s.own)
	return s
}
