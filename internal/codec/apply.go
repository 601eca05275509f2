package codec

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// EncodeApply returns obj as the sparse JSON of a server-side apply: what is set in obj and
// nothing else, since the field manager comes to own all that it sends.
//
// For an object of a Kubernetes module (k8s.io/api, apimachinery, apiextensions-apiserver,
// kube-aggregator), what is zero is left out, whatever its tag: the tags of these types were
// not written for apply. For any other object, a custom resource, the tags say which zeroes of
// bool, number and string fields are sent: one without omitempty or omitzero is, because the
// schema that is made from that tag requires the field. That holds for types of Kubernetes
// inside of it too, since it is the same schema that checks them: the empty message of a
// metav1.Condition is sent. Zero structs and nil pointers, slices, maps and interfaces are left
// out of both, and so is what would be written as null.
//
// What is set is sent, zero or not: what a pointer points to, elements of lists, values of
// maps. An empty list or map that is not nil is sent as its tag has it: left out by omitempty,
// as Kubernetes does, where empty and absent mean the same.
//
// zero names fields to be sent although they are zero, by paths of their JSON names:
//
//	spec.replicas
//	spec.template.spec.containers[name=app].stdin   in the element with this key
//	spec.ports[port=53,protocol=UDP].nodePort       with these keys
//	spec.ports[0].nodePort                          in the element with this index
//	spec.ports[*].nodePort                          in every element, or every value of a map
//	spec.pools[a.b/c].size                          in the value of this key of a map
//
// What is zero behind a nil pointer is sent as zero, a nil list as [], a nil map as {}. The
// structs that lead to the field are sent with it. A path that leads nowhere is an error, and so
// is one to a value that is set to something else, unless it goes there by way of [*].
//
// apiVersion and kind are set as given. metadata.managedFields is always left out: the server
// refuses an apply with it. The rest of what a server set is sent where obj has it: a
// resourceVersion makes the apply fail if the object was changed meanwhile, a uid if it was
// replaced.
//
// unstructured objects, client-go's apply configurations, maps and values with a MarshalJSON
// of their own are sent as they are but for apiVersion, kind and managedFields; zero has to be
// empty for them.
func EncodeApply(obj any, apiVersion, kind string, zero []string) ([]byte, error) {
	obj, err := addressable(obj)
	if err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", apiVersion, kind, err)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && len(zero) == 0 {
		return EncodeJSON(&unstructured.Unstructured{Object: withoutManagedFields(typedMap(u.Object, apiVersion, kind))})
	}
	v := reflect.ValueOf(obj).Elem()
	if sentAsIs(obj, v) {
		if len(zero) > 0 {
			return nil, fmt.Errorf("apply %s %s: a %s is sent as it is, so set %q in it instead of naming it as a zero field", apiVersion, kind, typeName(v.Type()), zero[0])
		}
		return encodeAsIs(obj, apiVersion, kind, true)
	}
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("apply %s %s: an object is needed, not a %s", apiVersion, kind, typeName(v.Type()))
	}
	w := applyWriters.Get().(*applyWriter)
	defer applyWriters.Put(w)
	*w = applyWriter{buf: w.buf[:0], sparse: isBuiltIn(v.Type())}
	if err := w.root(v, apiVersion, kind); err != nil {
		return nil, explainApply(v.Type(), err)
	}
	if len(zero) > 0 {
		return addZeroes(w.buf, v, w.sparse, zero)
	}
	return bytes.Clone(w.buf), nil
}

// applyWriters keeps the buffers of applies that are done.
var applyWriters = sync.Pool{New: func() any { return new(applyWriter) }}

// sentAsIs reports whether the author of obj decided what is sent, field by field.
func sentAsIs(obj any, v reflect.Value) bool {
	if _, ok := obj.(runtime.ApplyConfiguration); ok {
		return true
	}
	return v.Kind() == reflect.Map || shapeOf(v.Type()).form == formOther
}

// withoutManagedFields returns object, or a copy of its upper two levels without them.
func withoutManagedFields(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	if _, there := metadata["managedFields"]; !there {
		return object
	}
	object, metadata = maps.Clone(object), maps.Clone(metadata)
	delete(metadata, "managedFields")
	object["metadata"] = metadata
	return object
}

// encodeAsIs encodes obj with the given apiVersion and kind, and without managedFields if it
// is for an apply.
func encodeAsIs(obj any, apiVersion, kind string, apply bool) ([]byte, error) {
	data, err := EncodeJSON(obj)
	if err != nil {
		return nil, err
	}
	members, err := membersOf(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: an object is needed, and a %s is written as something else", apiVersion, kind, typeName(reflect.TypeOf(obj).Elem()))
	}
	setText(members, "apiVersion", apiVersion)
	setText(members, "kind", kind)
	if metadata, err := membersOf(members["metadata"]); err == nil && apply && metadata["managedFields"] != nil {
		delete(metadata, "managedFields")
		if members["metadata"], err = EncodeJSON(metadata); err != nil {
			return nil, err
		}
	}
	return EncodeJSON(members)
}

func membersOf(data []byte) (map[string]jsontext.Value, error) {
	members := make(map[string]jsontext.Value)
	if err := json.Unmarshal(data, &members, decodeOptions); err != nil {
		return nil, err
	}
	return members, nil
}

func setText(members map[string]jsontext.Value, name, text string) {
	quoted, _ := jsontext.AppendQuote(nil, text)
	members[name] = quoted
}

// explainApply turns the writer's error into an [Error].
func explainApply(t reflect.Type, err error) error {
	located, ok := errors.AsType[*locatedError](err)
	if !ok {
		return explain("encode", t, err)
	}
	cause := explain("encode", t, located.err).(*Error)
	cause.Pointer = string(located.pointer()) + cause.Pointer
	return cause
}
