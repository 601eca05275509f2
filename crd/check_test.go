package crd_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Freely is any JSON with a rule.
type Freely struct{}

func (Freely) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: new(true)}
}

func (Freely) Rules() []apiextensionsv1.ValidationRule {
	return []apiextensionsv1.ValidationRule{{Rule: "self.x == 1"}}
}

func TestCombinationErrors(t *testing.T) {
	type Item struct {
		Name  string   `json:"name"`
		Note  *string  `json:"note,omitempty"`
		Null  string   `json:"null" schema:"nullable"`
		Words []string `json:"words"`
	}
	type Spec struct {
		A  string            `json:"a" schema:"minLength=3,maxLength=2"`
		B  []string          `json:"b" schema:"minItems=3,maxItems=2"`
		C  Item              `json:"c" schema:"minProperties=3,maxProperties=2"`
		D  float64           `json:"d" schema:"minimum=3,maximum=2.5"`
		E  int32             `json:"e" schema:"minimum=0.5"`
		F  int32             `json:"f" schema:"exclusiveMinimum"`
		G  int32             `json:"g" schema:"exclusiveMaximum"`
		H  int32             `json:"h" schema:"minimum=1,maximum=1,exclusiveMaximum"`
		I  int32             `json:"i" schema:"multipleOf=0"`
		J  uint8             `json:"j" schema:"minimum=-1"`
		K  int8              `json:"k" schema:"maximum=128"`
		L  int32             `json:"l" schema:"maximum=2147483648"`
		M  int32             `json:"m" schema:"format=int64"`
		N  string            `json:"n" schema:"format=int32"`
		O  int64             `json:"o" schema:"format=date"`
		P  []Item            `json:"p" schema:"listType=map"`
		Q  []Item            `json:"q" schema:"listMapKey=name"`
		R  []Item            `json:"r" schema:"listType=map,listMapKey=nam"`
		S  []Item            `json:"s" schema:"listType=map,listMapKey=note"`
		T  []Item            `json:"t" schema:"listType=map,listMapKey=null"`
		U  []Item            `json:"u" schema:"listType=map,listMapKey=words"`
		V  []Item            `json:"v" schema:"listType=map,listMapKey=name|name"`
		W  []string          `json:"w" schema:"listType=map,listMapKey=name"`
		X  []Item            `json:"x" schema:"listType=set"`
		Y  [][]string        `json:"y" schema:"listType=set,items.listType=set"`
		Z  []string          `json:"z" schema:"listType=set,items.nullable"`
		AA []Item            `json:"aa" schema:"listType=map,listMapKey=name,items.nullable"`
		AB map[string]string `json:"ab" schema:"embeddedResource"`
		AC struct{}          `json:"ac" schema:"embeddedResource"`
		AD *string           `json:"ad" schema:"enum=a,nullable"`
		AE any               `json:"ae" schema:"listMapKey=a,listType=set,mapType=atomic"`
		AF any               `json:"af" schema:"embeddedResource"`
		AG string            `json:"ag" schema:"type=string,intOrString"`
		AH string            `json:"ah" schema:"type=text"`
		AI string            `json:"ai" schema:"type=array"`
		AJ string            `json:"aj" schema:"intOrString=false"`
		AM struct {
			Kind int `json:"kind"`
		} `json:"am" schema:"embeddedResource"`
		AL uint32 `json:"al" schema:"format=int32"`
		AK any    `json:"ak" schema:"preserveUnknownFields=false"`
		AN any    `json:"an" schema:"rule='self == 1',immutable"`
		AO Freely `json:"ao"`
	}
	same(t, faults[Spec](t),
		`Freely.Rules(): rules need to know the type that they are about, and this is any JSON; say type=object, or write the rule about the object around it`,
		`Spec.A: minLength 3 is above maxLength 2`,
		`Spec.AA: the items of listType=map cannot be nullable`,
		`Spec.AB: embeddedResource is for objects with fields, not for maps`,
		`Spec.AC: embeddedResource of an object without fields needs preserveUnknownFields, or the API server drops its content`,
		`Spec.AD: nullable has no effect beside an enum: the API server never finds null in one; without nullable it takes null for an absent field`,
		`Spec.AE: "listMapKey" has no meaning for any JSON`,
		`Spec.AE: "listType" has no meaning for any JSON`,
		`Spec.AE: "mapType" has no meaning for any JSON`,
		`Spec.AF: "embeddedResource" has no meaning for any JSON`,
		`Spec.AG: "intOrString" and "type" exclude each other`,
		`Spec.AH: "text" is not a type; it is one of string, integer, number, boolean, array, object`,
		`Spec.AI: type=array needs to say what its items are, as in items.type=string`,
		`Spec.AJ: a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields`,
		`Spec.AK: a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields`,
		`Spec.AL: maximum 4294967295 does not fit format int32`,
		`Spec.AM: embeddedResource needs a field "kind" of type string, and has one of type integer`,
		`Spec.AN: "immutable" has no meaning for any JSON`,
		`Spec.AN: "rule" has no meaning for any JSON`,
		`Spec.B: minItems 3 is above maxItems 2`,
		`Spec.C: minProperties 3 is above maxProperties 2`,
		`Spec.D: minimum 3 is above maximum 2.5`,
		`Spec.E: minimum 0.5 of an integer has to be whole`,
		`Spec.F: exclusiveMinimum needs a minimum that it excludes`,
		`Spec.G: exclusiveMaximum needs a maximum that it excludes`,
		`Spec.H: nothing lies between minimum and maximum 1 when one of them is excluded`,
		`Spec.I: multipleOf 0 has to be above 0`,
		`Spec.J: minimum -1 is below what the Go type uint8 holds, which begins at 0`,
		`Spec.K: maximum 128 is above what the Go type int8 holds, which ends at 127`,
		`Spec.L: maximum 2147483648 does not fit format int32`,
		`Spec.M: format int64 lets in numbers that the Go type int32 cannot hold`,
		`Spec.N: format "int32" is unknown to the API server for type string; known are bsonobjectid, uri, email, hostname, ipv4, ipv6, cidr, mac, uuid, uuid3, uuid4, uuid5, isbn, isbn10, isbn13, creditcard, ssn, hexcolor, rgbcolor, byte, password, date, duration, date-time, k8s-short-name, k8s-long-name`,
		`Spec.O: format "date" is unknown to the API server for type integer; known are int32, int64`,
		`Spec.P: listType=map needs a listMapKey, the field that tells its items apart`,
		`Spec.Q: listMapKey name needs listType=map`,
		`Spec.R: listMapKey "nam" is not a field of the items; did you mean "name"?`,
		`Spec.S: listMapKey "note" has to be required or have a default: an item without it could not be told apart`,
		`Spec.T: listMapKey "null" cannot be nullable`,
		`Spec.U: listMapKey "words" has to be a scalar, and is of type array`,
		`Spec.V: listMapKey "name" stands twice`,
		`Spec.W: listType=map is for lists of objects`,
		`Spec.X: listType=set of objects is not supported by server-side apply; use listType=map with a listMapKey, or listType=atomic`,
		`Spec.Y: lists inside listType=set have to be atomic, and this is set`,
		`Spec.Z: the items of listType=set cannot be nullable`,
	)
}

func TestValueErrors(t *testing.T) {
	type Inner struct {
		Name  string  `json:"name" schema:"maxLength=3"`
		Count int32   `json:"count,omitempty"`
		List  []int32 `json:"list,omitempty" schema:"maxItems=1"`
	}
	type Spec struct {
		A  int32                `json:"a" schema:"default=abc"`
		B  int32                `json:"b" schema:"default=1.5"`
		C  int32                `json:"c" schema:"maximum=3,default=4"`
		D  int32                `json:"d" schema:"minimum=3,default=2"`
		E  int32                `json:"e" schema:"minimum=3,exclusiveMinimum,default=3"`
		F  int32                `json:"f" schema:"maximum=3,exclusiveMaximum,default=3"`
		G  int32                `json:"g" schema:"multipleOf=3,default=4"`
		H  int32                `json:"h" schema:"default=2147483648"`
		I  string               `json:"i" schema:"minLength=3,default=ab"`
		J  string               `json:"j" schema:"maxLength=1,default=ab"`
		K  string               `json:"k" schema:"pattern=^a$,default=ab"`
		L  string               `json:"l" schema:"enum=a|b,default=ab"`
		M  string               `json:"m" schema:"enum=a|a"`
		N  string               `json:"n" schema:"maxLength=1,enum=a|bc"`
		O  bool                 `json:"o" schema:"default=yes"`
		P  []string             `json:"p" schema:"minItems=1,default=[]"`
		Q  []string             `json:"q" schema:"maxItems=1,default='[\"a\",\"b\"]'"`
		R  []string             `json:"r" schema:"default='[\"a\",1]'"`
		S  []string             `json:"s" schema:"listType=set,default='[\"a\",\"a\"]'"`
		T  Inner                `json:"t" schema:"default={}"`
		U  Inner                `json:"u" schema:"default='{\"name\":\"abcd\"}'"`
		V  Inner                `json:"v" schema:"default='{\"name\":\"abc\",\"conut\":1}'"`
		W  Inner                `json:"w" schema:"default='{\"name\":\"abc\",\"list\":[1,2]}'"`
		X  Inner                `json:"x" schema:"maxProperties=1,example='{\"name\":\"abc\",\"count\":1}'"`
		Y  string               `json:"y" schema:"nullable,default=null,example=null"`
		Z  int32                `json:"z" schema:"default=null"`
		AA metav1.Time          `json:"aa" schema:"default=yesterday"`
		AB []byte               `json:"ab" schema:"default=%%"`
		AC map[string]int32     `json:"ac" schema:"default='{\"a\":\"b\"}'"`
		AD intstr.IntOrString   `json:"ad" schema:"default=true,enum=1"`
		AE any                  `json:"ae" schema:"default=abc"`
		AF float64              `json:"af" schema:"default=1e400"`
		AG []Inner              `json:"ag" schema:"default='[{\"name\":\"abc\",\"list\":[1.5]}]'"`
		AH Inner                `json:"ah" schema:"minProperties=2,default='{\"name\":\"abc\"}'"`
		AS runtime.RawExtension `json:"as" schema:"embeddedResource,default='{\"kind\":\"A\"}'"`
		AI []byte               `json:"ai" schema:"default=''"`
		AJ string               `json:"aj" schema:"format=date,default=2026-02-30"`
		AT string               `json:"at" schema:"format=duration,default=soon"`
		AU string               `json:"au" schema:"format=duration,default=3 days"`
		AK string               `json:"ak" schema:"format=uri,default=a b"`
		AM string               `json:"am" schema:"format=cidr,default=10.0.0.0"`
		AN string               `json:"an" schema:"format=mac,default=a"`
		AO string               `json:"ao" schema:"format=ipv4,default='::1'"`
		AP string               `json:"ap" schema:"format=ipv6,default=10.0.0.1"`
		AQ string               `json:"aq" schema:"format=ipv4,default=10.0.0.1"`
		AR string               `json:"ar" schema:"format=ipv6,default='::1'"`
	}
	same(t, faults[Spec](t),
		`Spec.A: "default" needs JSON of type integer, and has "abc"`,
		`Spec.AA: default: "yesterday" is not of format date-time: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`,
		`Spec.AB: default: "%%" is not of format byte: illegal base64 data at input byte 0`,
		`Spec.AC: default: a: "b" is of type string, and the schema wants integer`,
		`Spec.AD: default: "true" is not in the enum 1`,
		`Spec.AE: "default" needs JSON of type any JSON, and has "abc"`,
		`Spec.AF: "default" needs a number that a 64-bit float can hold, and has "1e400"`,
		`Spec.AG: default: [0].list[0]: 1.5 is of type number, and the schema wants integer`,
		`Spec.AH: default: {"name":"abc"} is below minProperties 2: it has 1`,
		`Spec.AI: default: "" is not of format byte: the API server refuses no bytes at all`,
		`Spec.AJ: default: "2026-02-30" is not of format date: parsing time "2026-02-30": day out of range`,
		`Spec.AK: default: "a b" is not of format uri: parse "a b": invalid URI for request`,
		`Spec.AM: default: "10.0.0.0" is not of format cidr: invalid CIDR address: 10.0.0.0`,
		`Spec.AN: default: "a" is not of format mac: address a: invalid MAC address`,
		`Spec.AO: default: "::1" is not of format ipv4: this is no such address`,
		`Spec.AP: default: "10.0.0.1" is not of format ipv6: this is no such address`,
		`Spec.AS: default: {"kind":"A"} lacks the required "apiVersion"`,
		`Spec.AT: default: "soon" is not of format duration: time: invalid duration "soon"`,
		`Spec.B: default: 1.5 is of type number, and the schema wants integer`,
		`Spec.C: default: 4 is above maximum 3`,
		`Spec.D: default: 2 is below minimum 3`,
		`Spec.E: default: 3 is the minimum, which exclusiveMinimum leaves out`,
		`Spec.F: default: 3 is the maximum, which exclusiveMaximum leaves out`,
		`Spec.G: default: 4 is no multiple of 3`,
		`Spec.H: default: 2147483648 does not fit format int32`,
		`Spec.I: default: "ab" is below minLength 3: it has 2`,
		`Spec.J: default: "ab" is above maxLength 1: it has 2`,
		`Spec.K: default: "ab" does not match the pattern ^a$`,
		`Spec.L: default: "ab" is not in the enum "a", "b"`,
		`Spec.M: enum: "a" stands twice`,
		`Spec.N: enum: "bc" is above maxLength 1: it has 2`,
		`Spec.O: "default" needs JSON of type boolean, and has "yes"`,
		`Spec.P: default: [] is below minItems 1: it has 0`,
		`Spec.Q: default: ["a","b"] is above maxItems 1: it has 2`,
		`Spec.R: default: [1]: 1 is of type integer, and the schema wants string`,
		`Spec.S: default: "a" stands twice in a list of type set`,
		`Spec.T: default: {} lacks the required "name"`,
		`Spec.U: default: name: "abcd" is above maxLength 3: it has 4`,
		`Spec.V: default: conut: the schema has no such field; did you mean "count"?`,
		`Spec.W: default: list: [1,2] is above maxItems 1: it has 2`,
		`Spec.X: example: {"count":1,"name":"abc"} is above maxProperties 1: it has 2`,
		`Spec.Y: "default" has null, which the API server drops here; if the text is meant, put it in quotes: 'null'`,
		`Spec.Y: "example" has null, which the API server drops here; if the text is meant, put it in quotes: 'null'`,
		`Spec.Z: default: the API server drops null here; leave the word out`,
	)
}
