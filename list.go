package kube

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// List is the answer to a list request.
type List[K any] struct {
	// ListMeta has the resource version of the list, and the continue token and number of
	// remaining items of a page.
	metav1.ListMeta
	// Items are the objects.
	Items []*K
}

// wholeObjects keeps what caches leave out: a caller that asks the server itself gets what the
// server has.
var wholeObjects = &wire.Options{KeepManagedFields: true, KeepLastApplied: true}

// defaultPageSize is the page size of [API.Each].
const defaultPageSize = 500

// List reads the objects that opts select, in one request. Where some objects do not decode
// into K, the list holds the others, and the error says what is wrong with each of those. It
// fails with [ErrExpired] when a continue token or an exact resource version is too old.
func (a API[K]) List(ctx context.Context, opts *ListOptions) (*List[K], error) {
	list := new(List[K])
	var broken []error
	meta, err := a.endpoint.readPage(ctx, opts, wholeObjects, func(raw *resource.Raw) error {
		obj, err := resource.AsLazy[K](raw).Decode()
		if err != nil {
			broken = append(broken, err)
			return nil
		}
		list.Items = append(list.Items, obj)
		return nil
	})
	if err != nil {
		return nil, err
	}
	list.ListMeta = meta
	if len(broken) > 0 {
		r, _ := a.endpoint.collection("list", http.MethodGet)
		return list, a.endpoint.fail(r, errors.Join(broken...))
	}
	return list, nil
}

// Each goes through the objects that opts select, page by page (500 objects unless
// [ListOptions.Limit] says otherwise), so that no more than a page is in memory. A failed
// request is the last thing that is yielded; the error of an object that does not decode
// comes in its place, and the sequence goes on after it. Pages show one state of the
// cluster; a loop that takes longer than the server keeps that state (5 minutes by default)
// ends with [ErrExpired]. See [ContinueToken] for a way to go on.
func (a API[K]) Each(ctx context.Context, opts *ListOptions) iter.Seq2[*K, error] {
	return func(yield func(*K, error) bool) {
		for lazy, err := range a.eachLazy(ctx, opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			obj, err := lazy.Decode()
			if err != nil {
				r, _ := a.endpoint.collection("list", http.MethodGet)
				obj, err = nil, a.endpoint.fail(r, err)
			}
			if !yield(obj, err) {
				return
			}
		}
	}
}

// eachLazy reads a whole page before it yields the first object of it: a loop body that
// takes its time must not run into the deadline of the request.
func (a API[K]) eachLazy(ctx context.Context, opts *ListOptions) iter.Seq2[resource.Lazy[K], error] {
	return func(yield func(resource.Lazy[K], error) bool) {
		page := ListOptions{}
		if opts != nil {
			page = *opts
		}
		if page.Limit == 0 {
			page.Limit = defaultPageSize
		}
		for {
			var items []*resource.Raw
			meta, err := a.endpoint.readPage(ctx, &page, wholeObjects, func(raw *resource.Raw) error {
				items = append(items, raw)
				return nil
			})
			if err != nil {
				yield(resource.Lazy[K]{}, err)
				return
			}
			for _, raw := range items {
				if !yield(resource.AsLazy[K](raw), nil) {
					return
				}
			}
			if meta.Continue == "" {
				return
			}
			page.Continue = meta.Continue
		}
	}
}

// ListPage sends one list request and hands over the objects as they arrive, without
// decoding them and without managedFields and kubectl's last-applied annotation. An error of
// visit ends the request and is returned as it is. An object that is broken is handed over
// all the same: its Decode says what is wrong.
func (e Endpoint) ListPage(ctx context.Context, opts *ListOptions, visit func(*resource.Raw) error) (metav1.ListMeta, error) {
	return e.readPage(ctx, opts, nil, visit)
}

func (e Endpoint) readPage(ctx context.Context, opts *ListOptions, keep *wire.Options, visit func(*resource.Raw) error) (metav1.ListMeta, error) {
	r, err := e.collection("list", http.MethodGet)
	if err == nil {
		r.query, err = opts.query()
	}
	if err != nil {
		return metav1.ListMeta{}, e.fail(r, err)
	}
	r.accept = e.acceptDropped(asMetaList)
	if keep == wholeObjects {
		r.accept = e.accept(asMetaList)
	}
	resp, err := e.send(ctx, r)
	if err != nil {
		return metav1.ListMeta{}, e.fail(r, err)
	}
	defer resp.Body.Close()
	format, err := wire.FormatOf(resp.Header.Get("Content-Type"))
	if err != nil {
		return metav1.ListMeta{}, e.fail(r, err)
	}
	var visitErr error
	own := e.keeper(keep)
	meta, err := wire.ReadList(resp.Body, format, own.options, func(o wire.Object) error {
		visitErr = visit(own.object(o))
		return visitErr
	})
	if visitErr != nil {
		return metav1.ListMeta{}, visitErr
	}
	return metav1.ListMeta{
		ResourceVersion: meta.ResourceVersion, Continue: meta.Continue, RemainingItemCount: meta.RemainingItemCount,
	}, e.fail(r, refusalOf(err))
}
