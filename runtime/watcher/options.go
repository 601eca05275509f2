package watcher

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-kube/kube"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// InitialList says how a watcher learns what exists.
type InitialList uint8

const (
	// Auto tries a streaming list, and goes over to list and watch where the server has none
	// or does not finish one. What was found out is remembered by the client, per kind.
	Auto InitialList = iota
	// StreamingList asks for what exists as the first events of the watch: the server needs
	// no memory for a whole list (KEP-3157; on by default since Kubernetes 1.34).
	StreamingList
	// ListWatch lists page by page and starts a watch where the list ends.
	ListWatch
)

// String returns the name of the constant.
func (l InitialList) String() string {
	switch l {
	case Auto:
		return "Auto"
	case StreamingList:
		return "StreamingList"
	case ListWatch:
		return "ListWatch"
	}
	return fmt.Sprintf("InitialList(%d)", uint8(l))
}

// Options changes how a watcher works. The zero value, and nil, are right for most.
type Options struct {
	// Labels is a label selector such as "app=web,tier!=cache".
	Labels string
	// Fields is a field selector such as "spec.nodeName=n1".
	Fields string

	// InitialList says how the watcher learns what exists.
	InitialList InitialList
	// AnyVersion lets the server take the first snapshot from its cache, however old that
	// is: cheaper for the server, and the watch brings the rest. It lists without pages,
	// since servers ignore it otherwise. Snapshots after the first are always new, lest time
	// goes backwards.
	AnyVersion bool
	// PageSize is how many objects are listed per request; 0 is 500, a negative number lists
	// all at once. Streaming lists have no pages.
	PageSize int64
	// StreamingListTimeout is how long a streaming list may send nothing before it is given
	// up; 0 is 10s. Some servers and proxies never send the bookmark that ends it.
	StreamingListTimeout time.Duration

	// Timeout is after what time the server is asked to end each watch, which is resumed at
	// once; 0 is 290s.
	Timeout time.Duration
	// IdleTimeout is after what silence a watch is taken for dead; 0 is Timeout and 5s. With
	// bookmarks, which servers send about once a minute, it can be shorter than Timeout.
	IdleTimeout time.Duration
	// DisableBookmarks does without the events that tell the newest resource version. On
	// quiet kinds the version then grows too old to resume from. It excludes streaming lists.
	DisableBookmarks bool

	// MinBackoff and MaxBackoff bound the delay after a failure, which doubles with each; 0 is
	// 800ms and 30s. Up to 100% is added at random, so that watchers do not come back all at
	// once. A longer Retry-After of the server counts.
	MinBackoff, MaxBackoff time.Duration
	// BackoffReset is after how much time without failure the delay starts over; 0 is 120s.
	BackoffReset time.Duration

	// OnError is called with each failure, usually a *kube.Error, from the goroutine that
	// ranges over the events; a missing kind is reported once. Nothing has to be done: the
	// watcher tries again by itself.
	OnError func(error)
	// Logger receives one record when a failure begins, when its kind changes and when it is
	// over; repetitions are at debug level. Nil is the client's logger.
	Logger *slog.Logger
}

// prepared returns a copy with its defaults filled in, or what is wrong with it.
func (o *Options) prepared(endpoint kube.Endpoint) (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Logger == nil {
		c.Logger = endpoint.Client().Logger()
	}
	setDefault(&c.PageSize, 500)
	c.PageSize = max(c.PageSize, 0)
	setDefault(&c.StreamingListTimeout, 10*time.Second)
	setDefault(&c.Timeout, 290*time.Second)
	setDefault(&c.IdleTimeout, c.Timeout+5*time.Second)
	setDefault(&c.MinBackoff, 800*time.Millisecond)
	setDefault(&c.MaxBackoff, max(30*time.Second, c.MinBackoff))
	setDefault(&c.BackoffReset, 120*time.Second)
	return c, c.validate()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) validate() error {
	for _, d := range []struct {
		name       string
		value, min time.Duration
	}{
		{"Timeout", o.Timeout, time.Second},
		{"IdleTimeout", o.IdleTimeout, time.Second},
		{"StreamingListTimeout", o.StreamingListTimeout, time.Second},
		{"MinBackoff", o.MinBackoff, time.Millisecond},
		{"BackoffReset", o.BackoffReset, time.Millisecond},
	} {
		if d.value < d.min {
			return fmt.Errorf("watcher: Options.%s is %s; it has to be 0 (the default) or at least %s", d.name, d.value, d.min)
		}
	}
	switch {
	case o.MaxBackoff < o.MinBackoff:
		return fmt.Errorf("watcher: Options.MaxBackoff %s is less than MinBackoff %s", o.MaxBackoff, o.MinBackoff)
	case o.DisableBookmarks && o.IdleTimeout <= o.Timeout:
		return fmt.Errorf("watcher: Options.IdleTimeout %s is not more than Timeout %s: without bookmarks each quiet watch would be cut", o.IdleTimeout, o.Timeout)
	case o.InitialList > ListWatch:
		return fmt.Errorf("watcher: Options.InitialList is %s; it has to be Auto, StreamingList or ListWatch", o.InitialList)
	case o.InitialList == StreamingList && o.DisableBookmarks:
		return fmt.Errorf("watcher: Options.InitialList StreamingList needs bookmarks, and DisableBookmarks is set")
	}
	return o.validateSelectors()
}

func (o *Options) validateSelectors() error {
	if _, err := labels.Parse(o.Labels); err != nil {
		return fmt.Errorf("watcher: Options.Labels %q is no label selector: %w", o.Labels, err)
	}
	if _, err := fields.ParseSelector(o.Fields); err != nil {
		return fmt.Errorf("watcher: Options.Fields %q is no field selector: %w", o.Fields, err)
	}
	return nil
}
