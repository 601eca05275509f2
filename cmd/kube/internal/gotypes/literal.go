package gotypes

import (
	"fmt"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type rule = apiextensionsv1.ValidationRule

// compositeOf writes a flat struct as a Go literal, without the fields that are zero.
func compositeOf(v any) string {
	value := reflect.ValueOf(v)
	var parts []string
	for sf, f := range value.Fields() {
		switch {
		case f.IsZero():
		case f.Kind() == reflect.String:
			parts = append(parts, fmt.Sprintf("%s: %s", sf.Name, goString(f.String())))
		default:
			parts = append(parts, fmt.Sprintf("%s: %#v", sf.Name, f.Interface()))
		}
	}
	return value.Type().String() + "{" + strings.Join(parts, ", ") + "}"
}
