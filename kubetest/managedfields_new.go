package kubetest

import (
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/go-kube/kube/kubetest/internal/fieldtypes"
)

// A field manager finds out which fields a write has changed by comparing two objects. That is
// a third of all the work of a creation, where one of the two is empty: its fields are what the
// new object has. What follows finds them in one walk.

// creation is what there is to know for the managed fields of new objects of a built-in kind.
type creation struct {
	types  smd.ParseableType
	empty  value.Value // a new object of the kind before anything is set
	filter fieldpath.Filter
	strip  *fieldpath.Set
}

// unmanaged are the fields that have no manager, as in apimachinery.
var unmanaged = sync.OnceValue(func() *fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"))
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	} {
		set.Insert(fieldpath.MakePathOrDie("metadata", name))
	}
	return set
})

func (s *Server) newCreation(k *kind) (*creation, error) {
	types, ok := fieldtypes.Builtin().Of(k.GroupVersionKind())
	if !ok {
		return nil, errors.New("kubetest: there is no type of " + k.GroupVersionKind().String())
	}
	obj := k.new()
	setTypeMeta(obj, k.GroupVersionKind())
	empty, err := types.FromStructured(obj, smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	filter := s.resets(k, "")[fieldpath.APIVersion(k.groupVersion().String())]
	return &creation{types: types, empty: empty.AsValue(), filter: filter, strip: unmanaged()}, nil
}

// creation returns what there is to know of k, nil if its new objects need a field manager.
func (s *Server) creation(k *kind) *creation {
	k.managers.mu.Lock()
	defer k.managers.mu.Unlock()
	if k.managers.creation == nil && !k.managers.uncreated {
		c, err := s.newCreation(k)
		k.managers.creation, k.managers.uncreated = c, err != nil
	}
	return k.managers.creation
}

// trackNew writes the managed fields of a new object. It reports false, and has changed nothing,
// where a field manager is needed.
func (rq *request) trackNew(obj runtime.Object) bool {
	if _, ok := obj.(*unstructured.Unstructured); ok || rq.kind.custom || rq.subresource != "" || len(accessor(obj).GetManagedFields()) > 0 {
		return false
	}
	c := rq.server.creation(rq.kind)
	if c == nil {
		return false
	}
	entries, err := c.entries(obj, rq.fieldManager, rq.kind.groupVersion().String())
	if err != nil {
		return false
	}
	accessor(obj).SetManagedFields(entries)
	return true
}

// entries returns the managed fields of a new object, all of which belong to one manager.
func (c *creation) entries(obj runtime.Object, manager, apiVersion string) ([]metav1.ManagedFieldsEntry, error) {
	set, err := c.fields(obj)
	if err != nil || set.Empty() {
		return nil, err
	}
	data, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	if manager == "" {
		manager = "unknown"
	}
	return []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: apiVersion,
		Time: &metav1.Time{Time: time.Now().UTC()}, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: data},
	}}, nil
}

// fields returns the fields that obj has and an empty object has not.
func (c *creation) fields(obj runtime.Object) (*fieldpath.Set, error) {
	// A Go value is what its schema wants, but for what the walk finds wrong itself.
	v, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	w := &fieldWalk{schema: c.types.Schema, allocator: value.NewFreelistAllocator()}
	set := fieldpath.NewSet()
	if err := w.changed(set, c.types.TypeRef, c.empty, v); err != nil {
		return nil, err
	}
	if c.filter != nil {
		set = c.filter.Filter(set)
	}
	return set.Difference(c.strip), nil
}

// fieldWalk is a walk over the fields of an object.
type fieldWalk struct {
	schema    *schema.Schema
	allocator value.Allocator
}

// resolve returns the one form that v has of those that its type allows.
func (w *fieldWalk) resolve(t schema.TypeRef, v value.Value) (schema.Atom, error) {
	a, ok := w.schema.Resolve(t)
	if !ok {
		return a, errors.New("there is no such type")
	}
	switch {
	case v.IsNull():
	case v.IsMap():
		if a.Map != nil {
			return schema.Atom{Map: a.Map}, nil
		}
	case v.IsList():
		if a.List != nil {
			return schema.Atom{List: a.List}, nil
		}
	case a.Scalar != nil:
		return schema.Atom{Scalar: a.Scalar}, nil
	}
	return a, nil
}

// members returns the members of v if they have managers of their own.
func (w *fieldWalk) members(a schema.Atom, v value.Value) value.Map {
	if a.Map == nil || a.Map.ElementRelationship == schema.Atomic || v.IsNull() || !v.IsMap() {
		return nil
	}
	return v.AsMapUsing(w.allocator)
}

// items returns the items of v if they have managers of their own.
func (w *fieldWalk) items(a schema.Atom, v value.Value) value.List {
	if a.Map != nil || a.List == nil || a.List.ElementRelationship != schema.Associative || v.IsNull() || !v.IsList() {
		return nil
	}
	return v.AsListUsing(w.allocator)
}

// changed adds to set what is in v and not, or not the same, in old. Both are of one type, and
// have members.
func (w *fieldWalk) changed(set *fieldpath.Set, t schema.TypeRef, old, v value.Value) error {
	a, err := w.resolve(t, v)
	if err != nil {
		return err
	}
	had, has := w.members(a, old), w.members(a, v)
	if had == nil || has == nil {
		return errors.New("an object that is not a map")
	}
	defer w.allocator.Free(had)
	defer w.allocator.Free(has)
	has.IterateUsing(w.allocator, func(name string, v value.Value) bool {
		pe := fieldpath.PathElement{FieldName: &name}
		if before, ok := had.Get(name); ok {
			err = w.member(set, pe, memberType(a.Map, name), before, v)
		} else {
			err = w.added(set, pe, memberType(a.Map, name), v)
		}
		return err == nil
	})
	return err
}

// within has add fill the set of what is in a member, if anything is.
func within(set *fieldpath.Set, pe fieldpath.PathElement, add func(*fieldpath.Set) error) error {
	inner := fieldpath.Set{}
	if err := add(&inner); err != nil {
		return err
	}
	if !inner.Empty() {
		*set.Children.Descend(pe) = inner
	}
	return nil
}

// memberType returns the type of the member of a map.
func memberType(m *schema.Map, name string) schema.TypeRef {
	if f, ok := m.FindField(name); ok {
		return f.Type
	}
	return m.ElementType
}

// member adds what has changed in a member that was there before.
func (w *fieldWalk) member(set *fieldpath.Set, pe fieldpath.PathElement, t schema.TypeRef, old, v value.Value) error {
	a, err := w.resolve(t, v)
	if err != nil {
		return err
	}
	if m := w.members(a, v); m != nil {
		empty := m.Empty()
		w.allocator.Free(m)
		if !empty && !old.IsNull() && old.IsMap() {
			return within(set, pe, func(set *fieldpath.Set) error { return w.changed(set, t, old, v) })
		}
		if !empty {
			return within(set, pe, func(set *fieldpath.Set) error { return w.addMembers(set, a, v) })
		}
	}
	if l := w.items(a, v); l != nil {
		length := l.Length()
		w.allocator.Free(l)
		if length > 0 && old.IsNull() {
			return within(set, pe, func(set *fieldpath.Set) error { return w.addItems(set, a, v) })
		}
		if length > 0 {
			return errors.New("an empty object with items")
		}
	}
	if !value.EqualsUsing(w.allocator, v, old) {
		set.Members.Insert(pe)
	}
	return nil
}

// added adds a member or an item that was not there before, and everything in it.
func (w *fieldWalk) added(set *fieldpath.Set, pe fieldpath.PathElement, t schema.TypeRef, v value.Value) error {
	a, err := w.resolve(t, v)
	if err != nil {
		return err
	}
	set.Members.Insert(pe)
	switch {
	case v.IsNull():
	case a.Map != nil && a.Map.ElementRelationship != schema.Atomic:
		return within(set, pe, func(set *fieldpath.Set) error { return w.addMembers(set, a, v) })
	case a.List != nil && a.Map == nil && a.List.ElementRelationship == schema.Associative:
		return within(set, pe, func(set *fieldpath.Set) error { return w.addItems(set, a, v) })
	}
	return nil
}

func (w *fieldWalk) addMembers(set *fieldpath.Set, a schema.Atom, v value.Value) (err error) {
	m := w.members(a, v)
	if m == nil {
		return errors.New("a map that is none")
	}
	defer w.allocator.Free(m)
	m.IterateUsing(w.allocator, func(name string, v value.Value) bool {
		err = w.added(set, fieldpath.PathElement{FieldName: &name}, memberType(a.Map, name), v)
		return err == nil
	})
	return err
}

func (w *fieldWalk) addItems(set *fieldpath.Set, a schema.Atom, v value.Value) error {
	l := w.items(a, v)
	if l == nil {
		return errors.New("a list that is none")
	}
	defer w.allocator.Free(l)
	seen := fieldpath.MakePathElementSet(l.Length())
	for i := range l.Length() {
		item := l.At(i)
		pe, err := w.itemElement(a.List, item)
		if err != nil {
			return err
		}
		if seen.Has(pe) {
			return errors.New("two items with one key")
		}
		seen.Insert(pe)
		if err := w.added(set, pe, a.List.ElementType, item); err != nil {
			return err
		}
	}
	return nil
}

// itemElement returns what an item of a list is known by: its keys, or itself.
func (w *fieldWalk) itemElement(l *schema.List, item value.Value) (fieldpath.PathElement, error) {
	if len(l.Keys) == 0 {
		if item.IsNull() || item.IsMap() || item.IsList() {
			return fieldpath.PathElement{}, errors.New("an item of a set that is no scalar")
		}
		return fieldpath.PathElement{Value: &item}, nil
	}
	if item.IsNull() || !item.IsMap() {
		return fieldpath.PathElement{}, errors.New("an item with keys that is no map")
	}
	element, ok := w.schema.Resolve(l.ElementType)
	if !ok || element.Map == nil {
		return fieldpath.PathElement{}, errors.New("a list with keys whose items are no maps")
	}
	m := item.AsMapUsing(w.allocator)
	defer w.allocator.Free(m)
	var keys value.FieldList
	for _, name := range l.Keys {
		if v, ok := m.Get(name); ok {
			keys = append(keys, value.Field{Name: name, Value: v})
		} else if f, _ := element.Map.FindField(name); f.Default != nil {
			keys = append(keys, value.Field{Name: name, Value: value.NewValueInterface(f.Default)})
		}
	}
	if len(keys) == 0 {
		return fieldpath.PathElement{}, errors.New("an item without its keys")
	}
	keys.Sort()
	return fieldpath.PathElement{Key: &keys}, nil
}
