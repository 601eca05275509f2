package watcher

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxPageFailures is how often in a row one page may fail before the list starts over.
	maxPageFailures = 3
	// listTimeout bounds a list in one piece, which the deadline of ordinary requests could
	// cut off; nothing may come for openTimeout meanwhile.
	listTimeout = time.Hour
)

// list takes a snapshot by list requests.
func (r *run) list() state {
	page := kube.ListOptions{Labels: r.opts.Labels, Fields: r.opts.Fields, ResourceVersion: r.firstVersion(), Limit: r.opts.PageSize}
	if r.unpaged || page.ResourceVersion != "" {
		page.Limit = 0
	}
	version, failures := "", 0
	for {
		meta, err := r.readPage(&page)
		switch {
		case r.over():
			return nil
		case err != nil && page.Continue != "" && isTransient(err) && failures+1 < maxPageFailures:
			// The pages before are good: the token stands for the same state of the cluster.
			failures++
			if r.retry(err, (*run).list) == nil {
				return nil
			}
			continue
		case err != nil:
			return r.listFailed(err, page.Continue != "")
		}
		failures = 0
		if meta.ResourceVersion != "" {
			version = meta.ResourceVersion
		}
		if page.Continue = meta.Continue; page.Continue == "" {
			return r.listed(version)
		}
	}
}

// listed ends a snapshot that was read to its end.
func (r *run) listed(version string) state {
	if version == "" {
		return r.retry(r.failure("list", errNoVersion), (*run).snapshot)
	}
	r.kindBackoff.reset()
	if !r.complete(version) {
		return nil
	}
	return (*run).watch
}

// listFailed decides what follows a list that did not work.
func (r *run) listFailed(err error, continued bool) state {
	switch {
	case isMissingKind(err):
		return r.waitForKind(err)
	case continued && kube.IsExpired(err):
		// The pages took longer than the server keeps a state, and the next try would too.
		// The fresh token that the server offers with the refusal leads on from a newer
		// state than that of the pages before: what changed in those between the two would
		// be missed for ever. A list in one piece has no such problem, and costs no memory
		// here, as objects are passed on while they arrive.
		r.unpaged = true
	}
	return r.retry(err, (*run).snapshot)
}

// readPage reads and passes on one page.
func (r *run) readPage(page *kube.ListOptions) (metav1.ListMeta, error) {
	if page.Limit == 0 {
		return r.readAll(page)
	}
	// The page is read to its end first: the consumer may take its time, which is not to
	// count for the deadline of the request, and half of a page is of no use.
	objects := make([]*resource.Raw, 0, page.Limit)
	meta, err := r.endpoint.ListPage(r.ctx, page, func(raw *resource.Raw) error {
		objects = append(objects, raw)
		return nil
	})
	if err != nil {
		return meta, err
	}
	for _, raw := range objects {
		if !r.passListed(raw) {
			return meta, errStopped
		}
	}
	return meta, nil
}

// errStopped ends a list when the consumer breaks its loop.
var errStopped = errors.New("the loop over the events was broken")

// readAll reads a list in one piece and passes objects on as they arrive.
func (r *run) readAll(page *kube.ListOptions) (metav1.ListMeta, error) {
	ctx, stop := context.WithTimeout(r.ctx, listTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(openTimeout, func() { cancel(errSilence) })
	defer timer.Stop()
	meta, err := r.endpoint.ListPage(ctx, page, func(raw *resource.Raw) error {
		timer.Stop()
		defer timer.Reset(openTimeout)
		if !r.passListed(raw) {
			return errStopped
		}
		return nil
	})
	if err != nil && errors.Is(context.Cause(ctx), errSilence) {
		err = r.failure("list", errSilence)
	}
	return meta, err
}

func (r *run) passListed(raw *resource.Raw) bool {
	return r.begin() && r.emit(RawEvent{Type: InitApply, Object: raw})
}

// streamingList takes a snapshot as the first events of a watch.
func (r *run) streamingList() state {
	c, err := r.open(r.firstVersion(), true)
	switch {
	case err == nil:
	case r.over():
		return nil
	case isMissingKind(err):
		return r.waitForKind(err)
	case r.opts.InitialList == Auto && refusesStreaming(err):
		return r.withoutStreaming(err)
	default:
		return r.retry(err, (*run).snapshot)
	}
	complete, err := r.initialEvents(c)
	if complete {
		return r.follow(c)
	}
	c.close()
	switch {
	case r.over():
		return nil
	case r.opts.InitialList == Auto && errors.Is(err, errSilence):
		return r.withoutStreaming(err)
	}
	// What came is void: objects that go before the next try would stay for ever.
	r.brokenStreams++
	return r.retry(err, (*run).snapshot)
}

// withoutStreaming remembers that streaming lists do not work here, and lists in pages.
func (r *run) withoutStreaming(err error) state {
	r.log.Info("no streaming lists here, using list and watch", "resource", r.resource, "error", err)
	r.endpoint.SetStreamingListsFailed(true)
	r.begun = false
	return (*run).list
}

// initialEvents passes on the events up to the bookmark that completes the snapshot.
func (r *run) initialEvents(c *connection) (complete bool, err error) {
	for {
		event, err := c.next(r.opts.StreamingListTimeout)
		if err != nil {
			return false, r.streamError(err)
		}
		passed := RawEvent{Type: InitApply, Object: event.Object}
		switch {
		case event.Type == kube.Failure:
			return false, event.Err
		case event.Type == kube.Bookmark && !event.InitialEventsEnd:
			continue
		case event.Type == kube.Bookmark && event.ResourceVersion == "":
			return false, r.failure("watch", errNoVersion)
		case event.Type == kube.Bookmark:
			r.kindBackoff.reset()
			return r.complete(event.ResourceVersion), nil
		case event.Type == kube.Deleted:
			// Changes can come between the objects and the bookmark, deletions among them.
			passed.Type = Delete
		}
		if !r.begin() || !r.emit(passed) {
			return false, nil
		}
	}
}

// streamError names the end of a streaming list that came too early.
func (r *run) streamError(err error) error {
	switch err {
	case io.EOF:
		return r.failure("watch", errBroken)
	case errSilence:
		return r.failure("watch", errSilence)
	}
	return err
}
