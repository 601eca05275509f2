package resource

import "reflect"

// deepCopyInto copies *in to *out so that the two share nothing that can be written.
func deepCopyInto[T any](out, in *T) {
	*out = *in
	detach(reflect.ValueOf(out).Elem())
}

// detach replaces what v, a plain copy of a value, shares with that value: what its pointers,
// slices, maps and interfaces lead to. A type that brings DeepCopyInto (metav1.Time,
// resource.Quantity, every generated type) knows best. Unexported fields are left as they are,
// which is right for the immutable insides such types have; JSON does not see them either.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			detach(c.Elem())
			v.Set(c)
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(detached(v.Elem()))
		}
	case reflect.Struct:
		detachStruct(v)
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			detachElements(c)
			v.Set(c)
		}
	case reflect.Array:
		detachElements(v)
	case reflect.Map:
		detachMap(v)
	}
}

// detached returns a copy of v, which need not be settable.
func detached(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	detach(c)
	return c
}

func detachElements(v reflect.Value) {
	if isPlain(v.Type().Elem()) {
		return
	}
	for i := range v.Len() {
		detach(v.Index(i))
	}
}

func detachMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		c.SetMapIndex(it.Key(), detached(it.Value()))
	}
	v.Set(c)
}

func detachStruct(v reflect.Value) {
	if v.CanSet() && detachByItself(v) {
		return
	}
	for i := range v.NumField() {
		// The fields of an embedded struct can be set even where its type is unexported.
		if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous && f.Kind() == reflect.Struct {
			detach(f)
		}
	}
}

// detachByItself uses the DeepCopyInto method of v's type where there is one. The name is a
// constant, so the linker keeps these methods only, not every method of every type.
func detachByItself(v reflect.Value) bool {
	method := v.Addr().MethodByName("DeepCopyInto")
	if !method.IsValid() || method.Type().NumIn() != 1 || method.Type().In(0) != reflect.PointerTo(v.Type()) {
		return false // none, or that of an embedded type
	}
	c := reflect.New(v.Type())
	method.Call([]reflect.Value{c})
	v.Set(c.Elem())
	return true
}

// isPlain reports whether a copy of a value of type t shares nothing with it.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !isPlain(f.Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	default:
		return t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
	}
}
