package kube

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-kube/kube/resource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// goneRetry is how long a wait for a deletion pauses after an error, at first and at most.
	goneRetry    = 500 * time.Millisecond
	goneRetryMax = 30 * time.Second
	// gonePoll is the pause where nothing but reading is possible.
	gonePoll = 5 * time.Second
)

// DeleteAndWait deletes the object called name and returns when it is gone: when its finalizers
// have run, its containers have ended, and, with foreground propagation, its dependants are
// gone. Another object of the same name does not count. Nothing but ctx bounds the wait. It fails
// as [API.Delete] does: with [ErrNotFound] where there is none to begin with.
func (a API[K]) DeleteAndWait(ctx context.Context, name string, opts *DeleteOptions) error {
	var uid types.UID
	observed := WithWriteObserver(ctx, func(w Write) { uid = w.UID })
	if err := a.Delete(observed, name, opts); err != nil || opts != nil && opts.DryRun {
		return err
	}
	if opts != nil && opts.UID != "" {
		uid = opts.UID
	}
	if uid == "" {
		return a.waitUnnamed(ctx, name)
	}
	return a.WaitDeleted(ctx, name, uid)
}

// waitUnnamed waits for an object whose uid the answer to its deletion did not tell: if it exists
// still it is marked for deletion, and what is not is another one.
func (a API[K]) waitUnnamed(ctx context.Context, name string) error {
	meta, err := a.endpoint.metadata(ctx, name)
	if isObjectNotFound(err) || err == nil && meta.DeletionTimestamp == nil {
		return nil
	}
	if err != nil {
		return err
	}
	return a.WaitDeleted(ctx, name, meta.UID)
}

// WaitDeleted returns when the object called name with this uid is gone: there is none of that
// name, or another one. Errors that may pass are sat out; nothing but ctx bounds the wait. It
// reads and watches metadata only. Where watching is not allowed, or the kind knows no watch, the
// object is read again and again, every 5 s in the end.
func (a API[K]) WaitDeleted(ctx context.Context, name string, uid types.UID) error {
	pause, longest := goneRetry, goneRetryMax
	for {
		gone, err := a.endpoint.seeGone(ctx, name, uid)
		if gone {
			return nil
		}
		if ctx.Err() != nil {
			return a.endpoint.fail(&request{verb: "watch", namespace: a.endpoint.namespace, name: name}, causeOf(ctx, ctx.Err()))
		}
		switch {
		case err == nil:
			pause = goneRetry // the watch came to its regular end
		case cannotWatch(err):
			longest = gonePoll
		case !mayPass(err):
			return err
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, longest)
		case <-ctx.Done():
		}
	}
}

// cannotWatch reports whether err is the refusal of a watch of an object that can be read: who deletes
// need not have the right to watch, as by the roles that are written for kubectl drain.
func cannotWatch(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Verb == "watch" && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err))
}

// mayPass reports whether a later try may work: not so where the server understood and refused.
func mayPass(err error) bool {
	status, ok := statusOf(err)
	return !ok || status.Code >= 500 || status.Code == 429 || IsExpired(err)
}

// metadata reads the metadata of an object, of whatever kind it is: a type for each would be a
// part of every program that uses an API of the kind.
func (e Endpoint) metadata(ctx context.Context, name string) (*resource.Metadata[any], error) {
	e = e.Metadata()
	meta := new(resource.Metadata[any])
	return result(meta, e.get(ctx, name, "", e.self(), nil, meta))
}

// seeGone looks at the object once, then watches it until it is gone or the watch ends.
func (e Endpoint) seeGone(ctx context.Context, name string, uid types.UID) (bool, error) {
	meta, err := e.metadata(ctx, name)
	if isObjectNotFound(err) || err == nil && meta.UID != uid {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	w, err := e.Metadata().OpenWatch(ctx, &WatchOptions{
		Fields: "metadata.name=" + name, ResourceVersion: meta.ResourceVersion, Timeout: 5 * time.Minute,
	})
	if err != nil {
		return false, err
	}
	defer w.Close()
	for {
		ev, err := w.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case ev.Type == Failure:
			return false, ev.Err
		case ev.Object == nil:
		case ev.Type == Deleted && ev.Object.UID() == uid, ev.Object.UID() != "" && ev.Object.UID() != uid:
			return true, nil
		}
	}
}
