package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// store is a store of kube without the type of its objects.
type store struct {
	gvk       schema.GroupVersionKind
	goType    reflect.Type
	namespace string                      // empty spans all
	outside   func(namespace string) bool // of a store of several namespaces
	clustered bool
	partial   bool // without spec and status

	waitReady func(ctx context.Context) error
	waitFor   func(ctx context.Context, version string) error
	version   func() string
	get       func(key client.ObjectKey) (*resource.Raw, bool)
	// query yields the objects of a namespace, or of all, that have labels and values of fields.
	query  func(namespace string, selector resource.Selector, values []fieldValue) iter.Seq[*resource.Raw]
	object func(raw *resource.Raw, f form) (client.Object, error)
	fields map[string]bool // that have an index
}

// fieldValue is the value that a field has to have.
type fieldValue struct{ field, value string }

func newStore[K any](objects *reflector.Reflector[K], indexes map[string]*reflector.Index[K]) *store {
	if _, ok := any(new(K)).(client.Object); !ok {
		panic(fmt.Sprintf("controllerruntime: %T is no client.Object", new(K)))
	}
	kept, endpoint, indexes := objects.Store(), objects.Endpoint(), maps.Clone(indexes)
	d := endpoint.Descriptor()
	s := &store{
		gvk: d.GroupVersionKind(), goType: reflect.TypeFor[K](),
		namespace: endpoint.Namespace(), clustered: d.Scope == resource.ClusterScoped, partial: d.MetadataOnly,
		outside: func(namespace string) bool {
			if objects.Namespaces() == nil || namespace == "" {
				return false
			}
			_, err := kept.Get(resource.Ref[K]{Namespace: namespace})
			return errors.Is(err, reflector.ErrOutside)
		},
		waitReady: kept.WaitReady,
		waitFor:   kept.WaitFor,
		version:   func() string { return kept.Stats().ResourceVersion },
		get: func(key client.ObjectKey) (*resource.Raw, bool) {
			lazy, ok := kept.Lazy(resource.Ref[K]{Namespace: key.Namespace, Name: key.Name})
			return lazy.Raw, ok
		},
		query: func(namespace string, selector resource.Selector, values []fieldValue) iter.Seq[*resource.Raw] {
			q := reflector.Query[K]{Namespace: namespace, Labels: selector}
			for _, v := range values {
				q.Values = append(q.Values, reflector.IndexValue[K]{Index: indexes[v.field], Value: v.value})
			}
			return rawOf(kept.Query(q))
		},
		object: objectOf[K],
		fields: map[string]bool{},
	}
	for name := range indexes {
		s.fields[name] = true
	}
	return s
}

// objectOf decodes an object, as far as a form needs it.
func objectOf[K any](raw *resource.Raw, f form) (client.Object, error) {
	switch f {
	case asUnstructured:
		return resource.AsLazy[unstructured.Unstructured](raw).Decode()
	case metadataOnly:
		m, err := resource.AsLazy[resource.Metadata[K]](raw).Decode()
		if err != nil {
			return nil, err
		}
		return &metav1.PartialObjectMetadata{ObjectMeta: m.ObjectMeta}, nil
	}
	obj, err := resource.AsLazy[K](raw).Decode()
	if err != nil {
		return nil, err
	}
	return any(obj).(client.Object), nil
}

// rawOf yields the untyped inside of objects.
func rawOf[K any](objects iter.Seq[resource.Lazy[K]]) iter.Seq[*resource.Raw] {
	return func(yield func(*resource.Raw) bool) {
		for lazy := range objects {
			if !yield(lazy.Raw) {
				return
			}
		}
	}
}

// spans reports whether the store has everything in namespace.
func (s *store) spans(namespace string) bool {
	return s.clustered || s.namespace == namespace || s.namespace == "" && !s.outside(namespace)
}

// has reports whether the store can make objects of a form.
func (s *store) has(f form) bool { return f != asUnstructured || !s.partial }

// wait waits for the first snapshot, and for a version if one is asked for.
func (s *store) wait(ctx context.Context, version string) error {
	if err := s.waitReady(ctx); err != nil {
		return err
	}
	if version == "" || version == "0" {
		return nil
	}
	return s.waitFor(ctx, version)
}

// selected yields what a list asks for, by the indexes that the store has.
func (s *store) selected(o *client.ListOptions) (iter.Seq[*resource.Raw], error) {
	var values []fieldValue
	if o.FieldSelector != nil {
		for _, q := range o.FieldSelector.Requirements() {
			if q.Operator != selection.Equals && q.Operator != selection.DoubleEquals {
				return nil, fmt.Errorf("field selector %s%s%s: a cache finds fields by equality alone", q.Field, q.Operator, q.Value)
			}
			if !s.fields[q.Field] {
				return nil, fmt.Errorf("field selector %s=%s of %s: there is no index of that name; give one to Add", q.Field, q.Value, s.gvk)
			}
			values = append(values, fieldValue{q.Field, q.Value})
		}
	}
	if o.LabelSelector == nil {
		return s.query(o.Namespace, resource.Selector{}, values), nil
	}
	objects := s.query(o.Namespace, known(o.LabelSelector), values)
	return func(yield func(*resource.Raw) bool) {
		for raw := range objects {
			if o.LabelSelector.Matches(labelsOf{raw}) && !yield(raw) {
				return
			}
		}
	}, nil
}

// known returns a selector of which an index can make use: it selects at least what of does. Values that no label
// can have, which MatchingLabels lets through, are left to of.
func known(of labels.Selector) resource.Selector {
	requirements, selectable := of.Requirements()
	if !selectable {
		return resource.Selector{}
	}
	var texts []string
	for _, r := range requirements {
		if text := r.String(); valid(text) {
			texts = append(texts, text)
		}
	}
	selector, err := resource.ParseSelector(strings.Join(texts, ","))
	if err != nil {
		return resource.Selector{}
	}
	return selector
}

// valid reports whether the text of one requirement is read as that again.
func valid(text string) bool {
	parsed, err := labels.ParseToRequirements(text)
	return err == nil && len(parsed) == 1 && parsed[0].String() == text
}

// labelsOf are the labels of an object, without a map of them.
type labelsOf struct{ raw *resource.Raw }

func (l labelsOf) Has(key string) bool {
	_, ok := l.raw.Label(key)
	return ok
}

func (l labelsOf) Get(key string) string {
	value, _ := l.raw.Label(key)
	return value
}

func (l labelsOf) Lookup(key string) (value string, ok bool) { return l.raw.Label(key) }

// decode makes an object of the form that is wanted.
func (s *store) decode(raw *resource.Raw, f form) (client.Object, error) {
	obj, err := s.object(raw, f)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", s.gvk.Kind, raw.Namespace(), raw.Name(), err)
	}
	obj.GetObjectKind().SetGroupVersionKind(s.gvk)
	return obj, nil
}
