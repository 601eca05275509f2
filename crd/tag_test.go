package crd_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestWordErrors(t *testing.T) {
	type Spec struct {
		A  int32              `json:"a" schema:"minimun=1"`
		B  int32              `json:"b" schema:"minLength=1"`
		C  []string           `json:"c" schema:"maxLength=1"`
		D  map[string]string  `json:"d" schema:"minItems=1"`
		E  string             `json:"e" schema:"zzz"`
		F  string             `json:"f" schema:"x-kubernetes-list-typo=set"`
		G  string             `json:"g" schema:"minLength=1,minLength=2"`
		H  string             `json:"h" schema:"minLength"`
		I  string             `json:"i" schema:"minLength=-1"`
		J  string             `json:"j" schema:"maxLength=many"`
		K  float64            `json:"k" schema:"minimum=NaN,maximum=x"`
		L  int64              `json:"l" schema:"maximum=9007199254740993"`
		M  int32              `json:"m" schema:"exclusiveMinimum=0"`
		N  []string           `json:"n" schema:"listType=sets"`
		O  []string           `json:"o" schema:"listMapKey="`
		P  string             `json:"p" schema:"required=true"`
		Q  string             `json:"q" schema:"required,optional"`
		R  string             `json:"r" schema:"items.minLength=1"`
		S  []string           `json:"s" schema:"item.minLength=1"`
		T  []string           `json:"t" schema:"items.required"`
		U  string             `json:"u" schema:"pattern='a'|'b'"`
		V  string             `json:"v" schema:"pattern='(',format=emial"`
		W  map[string]string  `json:"w" schema:"additionalProperties.minimum=1"`
		X  string             `json:"x" schema:"default"`
		Y  string             `json:"y" schema:"enum"`
		Z  string             `json:"z" schema:"embeddedResource,preserveUnknownFields"`
		AA intstr.IntOrString `json:"aa" schema:"minItems=1"`
		AC string             `json:"ac" schema:"default='a'|'b'"`
		AD []string           `json:"ad" schema:"listType"`
		AE float64            `json:"ae" schema:"minimum"`
		AF float64            `json:"af" schema:"minimum=1e999"`
		AG []string           `json:"ag" schema:"listMapKey=a|,listType=map"`
		AH any                `json:"ah" schema:"format=emai"`
		AI int32              `json:"ai" schema:"enum=1|x"`
		AB string             `json:"ab" schema:"listMapKey=a|''"`
	}
	same(t, faults[Spec](t),
		`Spec.A: "minimun" is not a word of a schema tag; did you mean "minimum"?`,
		`Spec.AA: "minItems" has no meaning for integer or string; did you mean "minimum"?`,
		`Spec.AB: "listMapKey" has no meaning for string`,
		`Spec.AC: "default" takes one value: put the whole of 'a'|'b' in quotes`,
		`Spec.AD: "listType" needs a value, as in word=value`,
		`Spec.AE: "minimum" needs a value, as in word=value`,
		`Spec.AF: "minimum" needs a number, and has "1e999"`,
		`Spec.AG: "listMapKey" has an empty name in "a|"`,
		`Spec.AH: format "emai" is unknown to the API server for type any JSON; did you mean "email"?`,
		`Spec.AI: "enum" needs JSON of type integer, and has "x"`,
		`Spec.B: "minLength" has no meaning for integer; did you mean "minimum"?`,
		`Spec.C: "maxLength" has no meaning for array; did you mean "maxItems"?`,
		`Spec.D: "minItems" has no meaning for object; did you mean "minProperties"?`,
		`Spec.E: "zzz" is not a word of a schema tag`,
		`Spec.F: "x-kubernetes-list-typo" is not a word of a schema tag; did you mean "x-kubernetes-list-type"?`,
		`Spec.G: "minLength" stands twice`,
		`Spec.H: "minLength" needs a value, as in word=value`,
		`Spec.I: "minLength" needs a whole number that is not negative, and has "-1"`,
		`Spec.J: "maxLength" needs a whole number that is not negative, and has "many"`,
		`Spec.K: "maximum" needs a number, and has "x"`,
		`Spec.K: "minimum" needs a number, and has "NaN"`,
		`Spec.L: "maximum" cannot be 9007199254740993: a schema keeps it as a 64-bit float, which has no such number; the nearest is 9007199254740992`,
		`Spec.M: "exclusiveMinimum" is on or off, and has "0"; the bound itself is a word beside it, as in minimum=0,exclusiveMinimum`,
		`Spec.N: "listType" is one of atomic, set, map, and has "sets"; did you mean "set"?`,
		`Spec.O: "listMapKey" needs a value, as in word=value`,
		`Spec.P: "required" takes no value, and has true`,
		`Spec.Q: "required" and "optional" exclude each other`,
		`Spec.R: "items.minLength": there are no items in string`,
		`Spec.S: "item.minLength": a path in a schema tag is made of items and additionalProperties; did you mean "items"?`,
		`Spec.T.items: "required" and "optional" are for fields`,
		`Spec.U: "pattern" takes one value: put the whole of 'a'|'b' in quotes`,
		"Spec.V: format \"emial\" is unknown to the API server for type string; did you mean \"email\"?",
		"Spec.V: pattern \"(\": error parsing regexp: missing closing ): `(`",
		`Spec.W.additionalProperties: "minimum" has no meaning for string; did you mean "minLength"?`,
		`Spec.X: "default" needs a value, as in word=value`,
		`Spec.Y: "enum" needs a value, as in word=value`,
		`Spec.Z: "embeddedResource" has no meaning for string`,
		`Spec.Z: "preserveUnknownFields" has no meaning for string`,
	)
}

func TestTagErrors(t *testing.T) {
	type Spec struct {
		A string `json:"a" schema:""`
		B string `json:"b" schema:"minLength=1,"`
		C string `json:"c" schema:"pattern=^[a,b]$"`
		D string `json:"d" schema:"pattern='^a$"`
		E string `json:"e" schema:"enum='it's'"`
		F string `json:"f" schema:"=1"`
		I string `json:"i" doc:"a schema: \"x\""`
		J string `json:"j" schema:"pattern='a' b"`
	}
	same(t, faults[Spec](t),
		`Spec.A: the schema tag is empty`,
		`Spec.B: schema tag: a word is missing before ""`,
		`Spec.C: schema tag: "b]$" is not a word; a value with a comma needs quotes, as in pattern='^[a,b]$'`,
		`Spec.D: schema tag: "pattern": the closing quote is missing`,
		`Spec.E: schema tag: "enum": "s'" follows the closing quote; a quote inside quotes is written twice ('')`,
		`Spec.F: schema tag: a word is missing before "=1"`,
		`Spec.J: schema tag: "pattern": "b" follows the closing quote; a quote inside quotes is written twice ('')`,
	)
}
