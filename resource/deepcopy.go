package resource

import "reflect"

// deepCopyInto copies *in to *out so that the two share nothing that can be written.
func deepCopyInto[T any](out, in *T) {
	reflect.ValueOf(out).Elem().Set(deepCopy(reflect.ValueOf(in).Elem()))
}

// deepCopy copies what encoding/json can hold. A type that brings DeepCopyInto (metav1.Time,
// resource.Quantity, every generated type) knows best; unexported fields are copied as they
// are, which is right for the immutable insides such types have.
func deepCopy(v reflect.Value) reflect.Value {
	if c, ok := ownCopy(v); ok {
		return c
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(deepCopy(v.Elem()))
		return c
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return deepCopy(v.Elem())
	case reflect.Struct:
		return copyStruct(v)
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		copyElements(c, v)
		return c
	case reflect.Array:
		c := reflect.New(v.Type()).Elem()
		copyElements(c, v)
		return c
	case reflect.Map:
		return copyMap(v)
	default:
		return v
	}
}

func copyElements(dst, src reflect.Value) {
	for i := range src.Len() {
		dst.Index(i).Set(deepCopy(src.Index(i)))
	}
}

func copyStruct(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	for i := range v.NumField() {
		if c.Field(i).CanSet() {
			c.Field(i).Set(deepCopy(v.Field(i)))
		}
	}
	return c
}

func copyMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		c.SetMapIndex(it.Key(), deepCopy(it.Value()))
	}
	return c
}

// ownCopy uses the DeepCopyInto method of v's type where there is one. The name is a
// constant, so the linker keeps these methods only, not every method of every type.
func ownCopy(v reflect.Value) (reflect.Value, bool) {
	if v.Kind() != reflect.Struct {
		return v, false
	}
	src := reflect.New(v.Type())
	src.Elem().Set(v)
	method := src.MethodByName("DeepCopyInto")
	if !method.IsValid() || method.Type().NumIn() != 1 || method.Type().In(0) != src.Type() {
		return v, false
	}
	c := reflect.New(v.Type())
	method.Call([]reflect.Value{c})
	return c.Elem(), true
}
