package watcher

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-kube/kube"
)

const (
	// openTimeout is how long the server may take to accept a watch.
	openTimeout = 60 * time.Second
	// shortWatch is what a watch has to last at least to count as one that worked. A server
	// that ends watches at once would be asked in a hot loop otherwise (kubernetes/kubernetes
	// issue 104171).
	shortWatch = time.Second
)

// connection is one open watch that is cut when nothing comes for too long. The time that the
// consumer takes does not count.
type connection struct {
	stream  *kube.WatchStream
	cancel  context.CancelCauseFunc
	ctx     context.Context
	timer   *time.Timer // runs while the server is waited for
	opened  time.Time
	moved   bool // something came that led on from the version it began with
	refused bool // the server sent an ERROR event
}

// open opens a watch that starts after version.
func (r *run) open(version string, streamingList bool) (*connection, error) {
	c := new(connection)
	c.ctx, c.cancel = context.WithCancelCause(r.ctx)
	c.timer = time.AfterFunc(openTimeout, func() { c.cancel(errSilence) })
	stream, err := r.endpoint.OpenWatch(c.ctx, &kube.WatchOptions{
		Labels:            r.opts.Labels,
		Fields:            r.opts.Fields,
		ResourceVersion:   version,
		Timeout:           r.opts.Timeout,
		DisableBookmarks:  r.opts.DisableBookmarks,
		SendInitialEvents: streamingList,
	})
	c.timer.Stop()
	if err != nil {
		c.cancel(nil)
		return nil, err
	}
	c.stream, c.opened = stream, time.Now()
	return c, nil
}

// next waits for an event, for limit at most; it returns errSilence then.
func (c *connection) next(limit time.Duration) (kube.RawEvent, error) {
	c.timer.Reset(limit)
	event, err := c.stream.Next()
	c.timer.Stop()
	if err != nil && err != io.EOF && errors.Is(context.Cause(c.ctx), errSilence) {
		err = errSilence
	}
	return event, err
}

// short reports whether the connection has lasted too briefly to count as one that worked.
func (c *connection) short() bool { return time.Since(c.opened) < shortWatch }

func (c *connection) close() {
	c.timer.Stop()
	c.stream.Close()
	c.cancel(nil)
}
