package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-kube/kube/internal/codec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Entry is one object by name that may exist or not, for code that makes sure that it does, or that
// it is as wanted:
//
//	entry, err := api.Entry(ctx, "settings")
//	…
//	entry.OrInsert(func() *corev1.ConfigMap { return &corev1.ConfigMap{} })
//	entry.Modify(func(c *corev1.ConfigMap) { metav1.SetMetaDataLabel(&c.ObjectMeta, "seen", "yes") })
//	err = entry.Commit(ctx, nil)
//
// An Entry is for one goroutine.
type Entry[K any] struct {
	api    API[K]
	name   string
	object *K // nil while there is none
	stored bool
	dirty  bool
	err    error // of Modify
}

// CommitOptions are for [Entry.Commit].
type CommitOptions struct {
	// DryRun asks the server to check the write, and to store nothing.
	DryRun bool
	// FieldManager names who writes. Empty is derived from the user agent by the server.
	FieldManager string
	// FieldValidation says what unknown and duplicate fields are. Empty means Warn.
	FieldValidation FieldValidation
}

// Entry reads the object called name, and remembers that there is none if it is so.
func (a API[K]) Entry(ctx context.Context, name string) (*Entry[K], error) {
	obj, found, err := a.Lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Entry[K]{api: a, name: name, object: obj, stored: found}, nil
}

// Object returns the object as it is here, changes that are not committed included; nil if there is
// none. Changes made to it other than through Modify are not seen by Commit.
func (e *Entry[K]) Object() *K { return e.object }

// Stored reports whether the server has the object, as far as this entry knows.
func (e *Entry[K]) Stored() bool { return e.stored }

// Modify changes the object, if there is one. A change that leaves it as it was is none.
func (e *Entry[K]) Modify(change func(*K)) *Entry[K] {
	if e.object == nil {
		return e
	}
	before, err := codec.EncodeJSON(e.object)
	change(e.object)
	after, afterErr := codec.EncodeJSON(e.object)
	e.err = errors.Join(e.err, err, afterErr)
	e.dirty = e.dirty || !bytes.Equal(before, after)
	return e
}

// OrInsert puts in what object returns, if there is none.
func (e *Entry[K]) OrInsert(object func() *K) *Entry[K] {
	if e.object == nil {
		e.object = object()
		e.dirty = e.object != nil
	}
	return e
}

// Commit writes the object if it is new or changed, and makes no request otherwise. The name and
// namespace of a new object are filled in. A new object that somebody else created in the meantime
// is [ErrAlreadyExists], a change of one that somebody else changed or deleted is [ErrConflict] or
// [ErrNotFound]: the way out is a new Entry.
//
// Object is what the server keeps then. After a dry run it is as before, so that Commit can follow
// in earnest.
func (e *Entry[K]) Commit(ctx context.Context, opts *CommitOptions) error {
	if e.object == nil || !e.dirty {
		return e.err
	}
	o := CommitOptions{}
	if opts != nil {
		o = *opts
	}
	if err := e.validate(); err != nil {
		verb := map[bool]string{false: "create", true: "update"}[e.stored]
		r := &request{verb: verb, method: http.MethodPut, namespace: e.api.endpoint.namespace, name: e.name}
		return e.api.endpoint.fail(r, err)
	}
	out, err := e.write(ctx, o)
	if err != nil || o.DryRun {
		return err
	}
	e.object, e.stored, e.dirty = out, true, false
	return nil
}

func (e *Entry[K]) write(ctx context.Context, o CommitOptions) (*K, error) {
	if e.stored {
		opts := ReplaceOptions(o)
		return e.api.Replace(ctx, e.object, &opts)
	}
	opts := CreateOptions(o)
	return e.api.Create(ctx, e.object, &opts)
}

// validate makes sure that the object is the one that the entry is of.
func (e *Entry[K]) validate() error {
	meta, namespace := any(e.object).(metav1.Object), e.api.endpoint.namespace
	switch {
	case e.err != nil:
		return e.err
	case meta.GetGenerateName() != "":
		return fmt.Errorf("the object has generateName %q, and an entry is of one name; clear it", meta.GetGenerateName())
	case meta.GetName() != "" && meta.GetName() != e.name:
		return fmt.Errorf("the object is called %q, and the entry is of %q", meta.GetName(), e.name)
	case meta.GetNamespace() != "" && meta.GetNamespace() != namespace:
		return fmt.Errorf("the object names namespace %q, and the entry is of namespace %q", meta.GetNamespace(), namespace)
	}
	meta.SetName(e.name)
	meta.SetNamespace(namespace)
	return nil
}
