package kube

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Write is a change that the server has accepted: what is known of it from the server's
// answer. See [WithWriteObserver].
type Write struct {
	// Verb is create, update, patch, apply, delete or deletecollection.
	Verb string
	// Kind is the kind that was written, Subresource the part of it: empty for the object
	// itself.
	Kind        *resource.Descriptor
	Subresource string
	// Namespace, Name and UID are those of the object. The UID is empty where the answer does
	// not name it.
	Namespace, Name string
	UID             types.UID
	// ResourceVersion is the version that the object has after the write. A write that changed
	// nothing leaves the version as it was. It is empty after deletions, of which the server
	// tells no version, and where the answer is not the object: that of a binding, say.
	ResourceVersion string
	// Object is the answer as the caller of the write gets it, and must not be kept or changed.
	// It is nil after a deletion, and where the answer is no object.
	Object metav1.Object

	endpoint Endpoint
	body     payload
	like     reflect.Type // of what Object points to; nil where there is none
}

// Read returns what was written as the server has it now, in the form of Object: the object, or what
// the subresource consists of. Where Object is nil it reads the metadata, with apiVersion and kind. It fails with
// [ErrNotFound] when the object is gone, and is a request of its own: its right is that to get, which
// who may write need not have.
func (w Write) Read(ctx context.Context) (metav1.Object, error) {
	if w.endpoint.client == nil {
		return nil, errors.New("this kube.Write was not told to an observer, and has nothing to read")
	}
	e, body, subresource := w.endpoint.Metadata(), w.endpoint.Metadata().self(), ""
	obj := metav1.Object(new(resource.Metadata[struct{}]))
	if w.like != nil {
		e, body, subresource = w.endpoint, w.body, w.Subresource
		obj = reflect.New(w.like).Interface().(metav1.Object)
		if body.Info == &w.Kind.Info { // the answer is the whole object, and to read that is the more common right
			subresource = ""
		}
	}
	if err := e.get(ctx, w.Name, subresource, body, nil, obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// WithWriteObserver returns a context whose writes are told to f: each one that the server
// accepted, by any [Client] and in any kind, except dry runs. Of a DeleteCollection f is told
// once for each object that the server names in its answer. f is called before the write
// returns to its caller, and by several goroutines if they write at the same time.
//
// Observers add up: one that ctx has already is told as well, after f. Controllers use
// it to know their own writes in what their watches bring; it also serves an audit log.
//
// Requests of [Client.Do] are not observed.
func WithWriteObserver(ctx context.Context, f func(Write)) context.Context {
	return &writeObserver{ctx, f}
}

// writeObserver is a context with an observer.
type writeObserver struct {
	context.Context
	observe func(Write)
}

type writeObserverKey struct{}

// Value implements context.Context.
func (o *writeObserver) Value(key any) any {
	if key == (writeObserverKey{}) {
		return o
	}
	return o.Context.Value(key)
}

func observerFrom(ctx context.Context) *writeObserver {
	o, _ := ctx.Value(writeObserverKey{}).(*writeObserver)
	return o
}

func (o *writeObserver) tell(w Write) {
	for ; o != nil; o = observerFrom(o.Context) {
		o.observe(w)
	}
}

// wrote tells the observers of ctx of a write whose answer was decoded into into; isStatus
// says that the server answered with a Status of success, and into is not filled.
func (e Endpoint) wrote(ctx context.Context, r *request, kind payload, into any, isStatus bool) {
	if r.verb == "get" || r.query.Get("dryRun") != "" {
		return
	}
	o := observerFrom(ctx)
	if o == nil {
		return
	}
	w := e.writeOf(r)
	if obj, ok := into.(metav1.Object); ok && !isStatus {
		w.Object, w.UID, w.ResourceVersion = obj, obj.GetUID(), obj.GetResourceVersion()
		w.body, w.like = kind, reflect.TypeOf(into).Elem()
		if w.Name == "" {
			w.Name = obj.GetName()
		}
	}
	o.tell(w)
}

func (e Endpoint) writeOf(r *request) Write {
	e.namespace, e.keep = r.namespace, nil
	return Write{Verb: r.verb, Kind: e.kind, Subresource: r.subresource, Namespace: r.namespace, Name: r.name, endpoint: e}
}

// readDeleted reads the answer to a deletion, and tells the observers of ctx what is gone. The
// deletion is done: what cannot be read in the answer is left unsaid.
func (e Endpoint) readDeleted(ctx context.Context, r *request, dryRun bool, resp *http.Response) error {
	o := observerFrom(ctx)
	format, err := wire.FormatOf(resp.Header.Get("Content-Type"))
	if o == nil || dryRun || err != nil {
		return readBody(resp, func([]byte) error { return nil })
	}
	if r.name == "" {
		return e.readDeletedList(o, r, format, resp)
	}
	return readBody(resp, func(body []byte) error {
		w := e.writeOf(r)
		w.UID = deletedUID(body, format)
		o.tell(w)
		return nil
	})
}

// deletedUID returns the uid of a deleted object. The server answers with the object where it
// is only marked for deletion, and with a Status that names it where it is gone.
func deletedUID(body []byte, format wire.Format) types.UID {
	if status, ok := successIn(body, format); ok {
		if status.Details == nil {
			return ""
		}
		return status.Details.UID
	}
	obj, err := wire.ReadObject(body, format, nil)
	if err != nil {
		return ""
	}
	return types.UID(obj.UID())
}

func successIn(body []byte, format wire.Format) (status metav1.Status, ok bool) {
	if format == wire.Protobuf {
		apiVersion, kind, raw, err := wire.Envelope(body)
		return status, err == nil && kind == "Status" && apiVersion == "v1" && status.Unmarshal(raw) == nil
	}
	return status, isStatusJSON(body) && codec.DecodeJSON(body, &status) == nil
}

// readDeletedList reads the list of objects that a DeleteCollection is answered with. A body
// that breaks off is an error, as in any answer; one that is no list tells of no object.
func (e Endpoint) readDeletedList(o *writeObserver, r *request, format wire.Format, resp *http.Response) error {
	defer resp.Body.Close()
	_, err := wire.ReadList(resp.Body, format, nil, func(obj wire.Object) error {
		w := e.writeOf(r)
		w.Namespace, w.Name, w.UID = obj.Namespace(), obj.Name(), types.UID(obj.UID())
		w.endpoint.namespace = w.Namespace
		o.tell(w)
		return nil
	})
	if _, isOther := errors.AsType[*wire.StatusError](err); isOther {
		return nil
	}
	return err
}
