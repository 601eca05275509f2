package kubetest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects are structs of k8s.io/api or unstructured; what follows treats both alike. The parts
// of an object are its members besides apiVersion, kind and metadata.

// copyStatus makes the status of to that of from, without a copy of what it holds.
func copyStatus(from, to runtime.Object) {
	eachPart(to, func(name string) bool { return name == "status" }, from)
}

// copyAllButStatus makes everything of to that is neither metadata nor status that of from.
func copyAllButStatus(from, to runtime.Object) {
	eachPart(to, func(name string) bool { return name != "status" }, from)
}

// eachPart copies the parts of from that are selected into to, an object of the same type.
func eachPart(to runtime.Object, selected func(name string) bool, from runtime.Object) {
	if u, ok := to.(*unstructured.Unstructured); ok {
		copyMembers(u.Object, selected, from.(*unstructured.Unstructured).Object)
		return
	}
	src, dst := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for i := range dst.NumField() {
		if f := dst.Type().Field(i); !f.Anonymous && selected(lowerFirst(f.Name)) {
			dst.Field(i).Set(src.Field(i))
		}
	}
}

func copyMembers(to map[string]any, selected func(string) bool, from map[string]any) {
	part := func(name string) bool {
		return name != "apiVersion" && name != "kind" && name != "metadata" && selected(name)
	}
	maps.DeleteFunc(to, func(name string, _ any) bool { return part(name) })
	for name, value := range from {
		if part(name) {
			to[name] = runtime.DeepCopyJSONValue(value)
		}
	}
}

// lowerFirst turns the name of a field of an object into that of its part: Spec into spec.
func lowerFirst(name string) string { return string(name[0]|0x20) + name[1:] }

// samePartsButStatus reports whether a and b, of one type, differ in metadata and status only.
func samePartsButStatus(a, b runtime.Object) bool {
	if u, ok := a.(*unstructured.Unstructured); ok {
		return equality.Semantic.DeepEqual(withoutStatus(u.Object), withoutStatus(b.(*unstructured.Unstructured).Object))
	}
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if f.Anonymous || f.Name == "Status" {
			continue
		}
		if !equality.Semantic.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func withoutStatus(object map[string]any) map[string]any {
	rest := maps.Clone(object)
	delete(rest, "status")
	delete(rest, "metadata")
	return rest
}

// emptyStatus reports whether obj has no status, or nothing in it.
func emptyStatus(obj runtime.Object) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object["status"] == nil
	}
	f := reflect.ValueOf(obj).Elem().FieldByName("Status")
	return !f.IsValid() || f.IsZero()
}

// sameType reports whether a and b have one Go type.
func sameType(a, b runtime.Object) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }
