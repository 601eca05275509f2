package controller

import (
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// Source is a related kind whose objects trigger the controller's own: see [Controller.Owns] and
// [Controller.Watches]. Its methods are for one goroutine, before Run, and panic afterwards;
// State is safe for concurrent use.
type Source struct {
	engine   *engine
	endpoint kube.Endpoint
	name     string // plural.group
	find     func(*resource.Raw) ([]target, error)
	options  watcher.Options
	given    bool // feed is of a reflector of the user's
	feed     *reflector.Feed
	filter   *filter
	synced   chan struct{} // closed after the first list
	ready    atomic.Bool   // synced is closed
	view     *view         // set by Run of the controller

	// What follows is for the goroutine of run. Others read links with the lock, and the
	// goroutine holds it when it changes them.

	mu    sync.RWMutex
	links map[objectKey]*link // of the objects that have targets
	lists uint64              // begun so far
	there []string            // namespaces that were complete after the last one, where there are several
	// version is that of the object at hand; empty where it was found to be gone.
	version string
}

// target is an object of the controller that a related object triggers.
type target struct {
	key objectKey
	uid uint64 // hashed; 0 where whatever has the name is meant
}

// link is what is remembered of a related object: as little as is needed to know what to
// trigger when it changes or is found to be gone.
type link struct {
	version uint64 // hashed uid and resource version
	list    uint64 // the last list it was seen in
	uid     uint64 // hashed
	ending  bool   // it is being deleted
	targets []target
}

// live returns the uid of an object that triggers something, unless it is being deleted.
func (s *Source) live(key objectKey) (uid uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.links[key]
	if l == nil || l.ending {
		return 0, false
	}
	return l.uid, true
}

func (e *engine) relate(method string, endpoint kube.Endpoint, find func(*resource.Raw) ([]target, error)) *Source {
	s := &Source{
		engine: e, endpoint: endpoint, name: endpoint.Descriptor().GroupResource().String(), find: find,
		filter: newFilter(Predicate{}), synced: make(chan struct{}), links: map[objectKey]*link{},
	}
	s.setWatch(watcher.Options{})
	e.configure(method, func() { e.sources = append(e.sources, s) })
	return s
}

// Filter holds back changes that p does not pass. What an object is to trigger for the first
// time, or no longer, is triggered all the same. Called again, it replaces the predicate. It
// returns s.
func (s *Source) Filter(p Predicate) *Source {
	s.engine.configure("Source.Filter", func() { s.filter = newFilter(p) })
	return s
}

// WatchOptions says which objects of the kind are watched, and how. OnError of the options is
// also called for each version of an object that the function of [Controller.Watches] cannot
// be asked about: with a [*DecodeError] or a [*PanicError]. The logger is the controller's
// unless opts has one. Called again, it replaces the options. It returns s.
func (s *Source) WatchOptions(opts watcher.Options) *Source {
	if s.given {
		panic("controller: Source.WatchOptions was called for a kind that comes from a reflector, which has options of its own")
	}
	s.engine.configure("Source.WatchOptions", func() { s.setWatch(opts) })
	return s
}

func (s *Source) setWatch(opts watcher.Options) {
	if opts.Logger == nil {
		opts.Logger = s.engine.log
	}
	s.options = opts
	s.feed = reflector.NewFeed(s.endpoint, &reflector.FeedOptions{
		Watch: opts, Namespaces: s.engine.namespacesOf(s.endpoint),
		Patience: s.engine.patience(), Share: !s.engine.opts.OwnWatch,
	})
}

// State returns what the watch of the kind is doing.
func (s *Source) State() watcher.State { return s.feed.State() }

func (s *Source) newView() *view {
	s.view = newView(s.endpoint, s.options.Labels, s.options.Fields, s.live)
	if s.feed.Namespaces() != nil {
		s.view.parts = &parts{version: s.feed.VersionIn}
	}
	return s.view
}

// run follows the kind until ctx ends.
//
// It does without a cache. What a reflector would keep of each object of the kind is of no use
// here but for the few that trigger something, and those are in links; they also show, after
// a new list, what is gone.
func (s *Source) run(ctx context.Context) {
	for event := range s.feed.Events(ctx) {
		s.take(ctx, event)
	}
	if lasts(ctx) {
		s.engine.log.LogAttrs(ctx, slog.LevelError, "a related kind triggers nothing any more", slog.String("resource", s.name), slog.Any("error", errFeedEnded))
	}
}

func (s *Source) take(ctx context.Context, event watcher.RawEvent) {
	switch event.Type {
	case watcher.Init:
		s.lists++
	case watcher.InitApply, watcher.Apply:
		s.applied(ctx, event.Object)
	case watcher.Delete:
		s.deleted(ctx, event.Object)
	case watcher.InitDone:
		unsure := s.engine.writes.advanced(s.view, event.ResourceVersion, true) // before a run can begin
		first := !s.ready.Load()
		s.listed()
		for _, key := range unsure {
			s.triggerUnsure(key)
		}
		s.arrived(first)
		return
	}
	s.engine.writes.noticed(s.view)
	if event.ResourceVersion != "" {
		s.engine.writes.advanced(s.view, event.ResourceVersion, false)
	}
}

// applied takes in an object.
func (s *Source) applied(ctx context.Context, raw *resource.Raw) {
	key := keyOf(raw)
	version := versionOf(raw)
	before := s.links[key]
	if before != nil && before.version == version {
		before.list = s.lists
		return
	}
	targets, err := s.ask(raw)
	if err != nil {
		s.report(ctx, raw, err)
		if before == nil {
			return
		}
		targets = before.targets
	}
	if before == nil && len(targets) == 0 {
		return
	}
	passes := s.engine.passes(s.filter, key, raw)
	known := before.known()
	s.version = raw.ResourceVersion()
	s.triggerUnless(key, known, passes, targets)
	s.triggerUnless(key, targets, false, known)
	s.remember(key, before, link{
		version: version, list: s.lists, uid: hashUID(raw.UID()), ending: raw.DeletionTimestamp() != nil, targets: targets,
	})
}

// known returns the targets of a link, which may be nil.
func (l *link) known() []target {
	if l == nil {
		return nil
	}
	return l.targets
}

// triggerUnless triggers all of targets, or only those that are not among others.
func (s *Source) triggerUnless(key objectKey, targets []target, all bool, others []target) {
	for _, t := range targets {
		if all || !slices.Contains(others, t) {
			s.trigger(key, t)
		}
	}
}

// remember keeps now as the link of key, in place of before, which may be nil.
func (s *Source) remember(key objectKey, before *link, now link) {
	if len(now.targets) == 0 {
		s.drop(key)
		return
	}
	if !slices.Equal(now.targets, before.known()) {
		now.targets = ownedTargets(now.targets)
	} else {
		now.targets = before.targets
	}
	ended := before != nil && !before.ending && (now.ending || now.uid != before.uid)
	uid := now.uid
	if before != nil {
		uid = before.uid
	}
	s.put(key, before, now)
	if ended {
		s.engine.writes.ended(s.view, key, uid)
	}
}

func (s *Source) put(key objectKey, before *link, now link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before == nil {
		s.links[key.owned()] = &now
		return
	}
	*before = now
}

// drop forgets an object that is gone, or that triggers nothing any more.
func (s *Source) drop(key objectKey) {
	s.filter.drop(key)
	l := s.links[key]
	if l == nil {
		return
	}
	s.mu.Lock()
	delete(s.links, key)
	s.mu.Unlock()
	s.engine.writes.ended(s.view, key, l.uid)
}

// deleted takes in that an object is gone. What it triggered before is triggered, and what its
// last state says.
func (s *Source) deleted(ctx context.Context, raw *resource.Raw) {
	key := keyOf(raw)
	before := s.links[key].known()
	now, err := s.ask(raw)
	if err != nil {
		s.report(ctx, raw, err)
	}
	s.version = raw.ResourceVersion()
	s.triggerUnless(key, before, true, nil)
	s.triggerUnless(key, now, false, before)
	s.drop(key)
}

// listed takes in that a list is complete: what was not in it is gone.
func (s *Source) listed() {
	s.version = ""
	for key, l := range s.links {
		if l.list == s.lists {
			continue
		}
		for _, t := range l.targets {
			s.trigger(key, t)
		}
		s.drop(key)
	}
	s.complete()
}

// complete notes that the first list is.
func (s *Source) complete() {
	if s.ready.Load() {
		return
	}
	late := s.engine.working.Load()
	s.ready.Store(true)
	close(s.synced)
	if late {
		s.engine.triggerAll(Reason{Kind: Everything, Resource: s.name})
	}
}

// arrived triggers the objects of the namespaces that are complete since the last list, lest a change
// was missed: of what came and went before, no list tells. After the first one there is no need.
func (s *Source) arrived(first bool) {
	before := s.there
	s.there = s.feed.ReadyIn()
	if first {
		return
	}
	for _, namespace := range s.there {
		if _, known := slices.BinarySearch(before, namespace); !known {
			s.engine.triggerIn(namespace, Reason{Kind: Everything, Resource: s.name})
		}
	}
}

// trigger triggers t because of the related object called key. During the first list there is
// no need: every object is reconciled after it.
func (s *Source) trigger(key objectKey, t target) {
	if !s.ready.Load() {
		return
	}
	own, ok := s.engine.cache.get(t.key)
	if !ok || t.uid != 0 && t.uid != hashUID(own.UID()) {
		return // another object, or one that will be reconciled when it is found
	}
	key = key.owned()
	s.engine.triggerBy(t.key, Reason{Kind: Related, Resource: s.name, Namespace: key.Namespace, Name: key.Name},
		objectVersion{s.endpoint.Descriptor(), key, s.version})
}

// triggerUnsure triggers the object called key, whose own write no event has shown. No version of an
// object causes that.
func (s *Source) triggerUnsure(key objectKey) {
	if _, ok := s.engine.cache.get(key); ok && s.ready.Load() {
		s.engine.trigger(key, Reason{Kind: Related, Resource: s.name})
	}
}

// ask asks what raw triggers.
func (s *Source) ask(raw *resource.Raw) (targets []target, err error) {
	err = contain(func() (err error) {
		targets, err = s.find(raw)
		return err
	})
	return targets, err
}

func (s *Source) report(ctx context.Context, raw *resource.Raw, err error) {
	s.engine.log.LogAttrs(ctx, slog.LevelWarn, "cannot say what a related object triggers",
		append(errorAttrs(err), slog.String("resource", s.name), slog.String("namespace", raw.Namespace()), slog.String("name", raw.Name()))...)
	if s.options.OnError != nil {
		s.options.OnError(err)
	}
}

// late notes that the controller starts without the kind.
func (s *Source) late(ctx context.Context) {
	select {
	case <-s.synced: // both at once
		return
	default:
	}
	s.engine.log.LogAttrs(ctx, slog.LevelWarn, "starting without a related kind, whose first list is not complete",
		slog.String("resource", s.name), slog.Any("error", s.State().LastError))
}

func versionOf(raw *resource.Raw) uint64 {
	return maphash.Comparable(hashSeed, [2]string{string(raw.UID()), raw.ResourceVersion()})
}

func ownedTargets(targets []target) []target {
	owned := make([]target, len(targets))
	for i, t := range targets {
		owned[i] = target{t.key.owned(), t.uid}
	}
	return owned
}
