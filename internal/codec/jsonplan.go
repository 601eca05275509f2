package codec

import (
	"reflect"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// jsonForm is how values of a Go type are read.
type jsonForm uint8

const (
	jsonOther jsonForm = iota // by encoding/json
	jsonString
	jsonBool
	jsonInt
	jsonUint
	jsonFloat
	jsonBytes
	jsonTime
	jsonQuantity
	jsonIntOrString
	jsonPointer
	jsonSlice
	jsonStringMap
	jsonQuantityMap
	jsonMap
	jsonStruct
)

// jsonType is what the reader of JSON knows of a Go type.
type jsonType struct {
	form   jsonForm
	typ    reflect.Type
	size   uintptr
	elem   *jsonType   // of a pointer, slice or map
	fields []jsonField // of a struct, in the order in which they are written
}

// jsonField is a member of an object, and where it goes in a struct.
type jsonField struct {
	name   string
	offset uintptr
	typ    *jsonType
}

// mostJSONFields is how many fields a struct may have, of which those that came are remembered.
const mostJSONFields = 128

var jsonTypes typeCache[*jsonType]

// jsonTypeOf returns how t is read.
func jsonTypeOf(t reflect.Type) *jsonType {
	return jsonTypes.get(t, func(t reflect.Type) *jsonType {
		if traitsOf(t)&malformed != 0 {
			return &jsonType{typ: t}
		}
		return jsonPlanner{}.plan(t)
	})
}

// jsonPlanner plans a type and all that it holds, which may be itself.
type jsonPlanner map[reflect.Type]*jsonType

func (p jsonPlanner) plan(t reflect.Type) *jsonType {
	if known := p[t]; known != nil {
		return known
	}
	plan := &jsonType{typ: t, size: t.Size()}
	p[t] = plan
	switch {
	case t == reflect.TypeFor[metav1.Time]():
		plan.form = jsonTime
	case t == reflect.TypeFor[apiresource.Quantity]():
		plan.form = jsonQuantity
	case t == reflect.TypeFor[intstr.IntOrString]():
		plan.form = jsonIntOrString
	case !decodesItself(t):
		p.fill(plan)
	}
	return plan
}

// fill finds out how a type without methods of its own is read.
func (p jsonPlanner) fill(plan *jsonType) {
	t := plan.typ
	switch t.Kind() {
	case reflect.String:
		plan.form = jsonString
	case reflect.Bool:
		plan.form = jsonBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		plan.form = jsonInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		plan.form = jsonUint
	case reflect.Float32, reflect.Float64:
		plan.form = jsonFloat
	case reflect.Pointer:
		plan.form, plan.elem = jsonPointer, p.plan(t.Elem())
	case reflect.Slice:
		switch {
		case t.Elem() == reflect.TypeFor[byte]():
			plan.form = jsonBytes
		case t.Elem().Kind() != reflect.Uint8:
			plan.form, plan.elem = jsonSlice, p.plan(t.Elem())
		}
	case reflect.Map:
		p.fillMap(plan)
	case reflect.Struct:
		p.fillStruct(plan)
	}
}

func (p jsonPlanner) fillMap(plan *jsonType) {
	key := plan.typ.Key()
	if key.Kind() != reflect.String || decodesItself(key) {
		return
	}
	plan.form, plan.elem = jsonMap, p.plan(plan.typ.Elem())
	switch plan.elem.form {
	case jsonString:
		plan.form = jsonStringMap
	case jsonQuantity:
		plan.form = jsonQuantityMap
	}
}

// fillStruct leaves a struct to encoding/json that has something special about it.
func (p jsonPlanner) fillStruct(plan *jsonType) {
	fields := fieldsOf(plan.typ)
	if fields.rest != nil || len(fields.list) > mostJSONFields {
		return
	}
	for i := range fields.list {
		f := &fields.list[i]
		offset, ok := offsetOf(plan.typ, f.index)
		if !ok {
			plan.fields = nil
			return
		}
		plan.fields = append(plan.fields, jsonField{f.name, offset, p.plan(f.typ)})
	}
	plan.form = jsonStruct
}

// offsetOf returns where a field is in t. It is not ok behind an embedded pointer, and where a tag says
// more than what concerns the writing of fields alone.
func offsetOf(t reflect.Type, index []int) (offset uintptr, ok bool) {
	for i, n := range index {
		if t.Kind() != reflect.Struct {
			return 0, false
		}
		f := t.Field(n)
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "", "omitempty", "omitzero":
			case "inline":
				if i == len(index)-1 {
					return 0, false
				}
			default:
				return 0, false
			}
		}
		offset += f.Offset
		t = f.Type
	}
	return offset, true
}
