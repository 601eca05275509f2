package crd

import (
	"reflect"
	"strings"
)

// knownType returns the schema of a type whose JSON does not follow from its fields. Types
// are named, not referred to, so that none of their packages is linked for its name alone.
func knownType(t reflect.Type) (props, bool) {
	switch t.PkgPath() + "." + t.Name() {
	case "time.Time", metaPackage + ".Time", metaPackage + ".MicroTime":
		return props{Type: "string", Format: "date-time"}, true
	case metaPackage + ".Duration":
		return props{Type: "string"}, true
	case metaPackage + ".ObjectMeta":
		return embeddedMetadata(), true
	case "k8s.io/apimachinery/pkg/api/resource.Quantity":
		s := intOrString()
		s.Pattern = quantityPattern
		return s, true
	case "k8s.io/apimachinery/pkg/util/intstr.IntOrString":
		return intOrString(), true
	case "k8s.io/apimachinery/pkg/runtime.RawExtension",
		"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.Unstructured",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps",
		metaPackage + ".FieldsV1":
		return props{Type: "object", XPreserveUnknownFields: new(true)}, true
	case "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON",
		"encoding/json.RawMessage", "encoding/json/jsontext.Value":
		return anyJSON(), true
	}
	return props{}, false
}

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// quantityPattern is what controller-gen writes for a resource.Quantity.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

func anyJSON() props { return props{XPreserveUnknownFields: new(true)} }

func intOrString() props {
	return props{XIntOrString: true, AnyOf: []props{{Type: "integer"}, {Type: "string"}}}
}

// embeddedMetadata is the metadata of an object inside another one, such as that of a pod
// template: the fields that a user sets there. A bare object, which is what the API server
// takes at the root, would lose them, labels included, since it drops unknown fields.
func embeddedMetadata() props {
	text := func() *props { return &props{Type: "string"} }
	texts := props{Type: "object", AdditionalProperties: valuesOf(text())}
	return props{Type: "object", Properties: map[string]props{
		"name":        *text(),
		"namespace":   *text(),
		"labels":      texts,
		"annotations": *texts.DeepCopy(),
		"finalizers":  {Type: "array", Items: itemsOf(text())},
	}}
}

// knownTag returns the schema tag that a type of apimachinery would have, had its authors
// written tags: reflection does not see their markers. field is empty for the type itself.
func knownTag(t reflect.Type, field string) string {
	if t.PkgPath() != metaPackage {
		return ""
	}
	switch strings.TrimSuffix(t.Name()+"."+field, ".") {
	case "LabelSelector", "LabelSelectorAttributes":
		return `mapType=atomic`
	case "LabelSelector.MatchExpressions", "LabelSelectorRequirement.Values":
		return `listType=atomic`
	case "Condition.Type":
		return `maxLength=316,pattern='^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'`
	case "Condition.Status":
		return `enum=True|False|Unknown`
	case "Condition.ObservedGeneration":
		return `minimum=0`
	case "Condition.Reason":
		return `minLength=1,maxLength=1024,pattern='^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'`
	case "Condition.Message":
		return `maxLength=32768`
	}
	return ""
}
