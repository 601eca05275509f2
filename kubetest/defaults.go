package kubetest

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Defaults are what a real server fills in when it reads an object of a built-in kind, as
// pkg/apis/*/*/defaults.go in Kubernetes has it. Some belong to a kind, most to a type that
// stands in many: a container, a probe.

// setBuiltinDefaults returns what fills in the defaults of a built-in kind.
func setBuiltinDefaults(kind schema.GroupKind) func(runtime.Object) {
	whole := kindDefaults()[kind]
	return func(obj runtime.Object) {
		if whole != nil {
			whole(obj)
		}
		v := reflect.ValueOf(obj).Elem()
		fillParts(v, planOf(v.Type()))
	}
}

// addDefaults has a strategy fill in the defaults of a kind, before those that it has.
func (s *strategy) addDefaults(kind schema.GroupKind) {
	builtin, more := setBuiltinDefaults(kind), s.defaults
	s.defaults = func(obj runtime.Object) {
		builtin(obj)
		if more != nil {
			more(obj)
		}
	}
}

// plan says where in a type there are parts that have defaults.
type plan struct {
	set    func(part any) // of the type itself; nil if it has none
	fields []plannedField
	elem   *plan // of what a pointer, slice or map leads to
}

type plannedField struct {
	index int
	plan  *plan
}

// plans are the plans of types that were asked for, of all servers: they follow from the types.
var plans = struct {
	sync.Mutex
	made map[reflect.Type]*plan
}{made: map[reflect.Type]*plan{}}

// planOf returns the plan of a type; nil if there is nothing to do in it.
func planOf(t reflect.Type) *plan {
	plans.Lock()
	defer plans.Unlock()
	return makePlan(t, map[reflect.Type]bool{})
}

// makePlan is planOf within the types that lead to t. A type within itself, as a schema is, has
// no defaults.
func makePlan(t reflect.Type, above map[reflect.Type]bool) *plan {
	if p, ok := plans.made[t]; ok {
		return p
	}
	if above[t] {
		return nil
	}
	above[t] = true
	defer delete(above, t)
	p := &plan{}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		p.elem = makePlan(t.Elem(), above)
	case reflect.Struct:
		p.set = partDefaults[t]
		for i := range t.NumField() {
			f := t.Field(i)
			if sub := makePlan(f.Type, above); sub != nil && f.IsExported() {
				p.fields = append(p.fields, plannedField{i, sub})
			}
		}
	}
	if p.set == nil && p.elem == nil && len(p.fields) == 0 {
		p = nil
	}
	plans.made[t] = p
	return p
}

// fillParts fills in the defaults of v and of what is in it, from the outside inwards.
func fillParts(v reflect.Value, p *plan) {
	switch {
	case p == nil:
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			fillParts(v.Elem(), p.elem)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fillParts(v.Index(i), p.elem)
		}
	default:
		if p.set != nil {
			p.set(v.Addr().Interface())
		}
		for _, f := range p.fields {
			fillParts(v.Field(f.index), f.plan)
		}
	}
}

// part is an entry of partDefaults.
func part[T any](f func(*T)) (reflect.Type, func(any)) {
	return reflect.TypeFor[T](), func(v any) { f(v.(*T)) }
}

// setDefault writes a value where p points to the zero value.
func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// setPointer makes p point to a value if it points to nothing.
func setPointer[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
