package cel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/resource"
)

// Action is one of two.
type Action struct {
	_     struct{} `schema:"exactlyOneOf=run|wait"`
	Run   *string  `json:"run,omitempty"`
	Wait  *int32   `json:"wait,omitempty"`
	Label string   `json:"label,omitempty" schema:"maxLength=8"`
}

// RangeSpec has rules.
type RangeSpec struct {
	_       struct{} `schema:"rule='self.min <= self.max'|'min is above max'"`
	Min     int32    `json:"min"`
	Max     int32    `json:"max"`
	Step    int32    `json:"step,omitempty" schema:"default=1,rule='self != 0'"`
	Class   string   `json:"class,omitempty" schema:"immutable,enum=a|b"`
	Actions []Action `json:"actions,omitempty" schema:"maxItems=10,listType=atomic"`
	Hosts   []string `json:"hosts,omitempty" schema:"listType=set,maxItems=9,items.maxLength=9"`
}

type Range = resource.Object[RangeSpec, struct{}]

var Ranges = resource.DefineNamespaced[Range](resource.Info{Group: "example.com", Version: "v1", Kind: "Range"})

func validator(t *testing.T, o *crd.Options) *cel.Validator {
	t.Helper()
	def, err := crd.For(Ranges, o)
	if err != nil {
		t.Fatal(err)
	}
	v, err := cel.New(def, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func spec(s string) []byte {
	return []byte(`{"apiVersion":"example.com/v1","kind":"Range","metadata":{"name":"n"},"spec":` + s + `}`)
}

func faults(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	list := cel.Faults(err)
	if list == nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		out = append(out, f.Error())
	}
	return out
}

func TestValidate(t *testing.T) {
	v := validator(t, &crd.Options{Rules: []apiextensionsv1.ValidationRule{
		{Rule: "self.metadata.name != 'evil'", MessageExpression: "'the name is ' + self.metadata.name", Reason: new(apiextensionsv1.FieldValueForbidden)},
		{Rule: "self.spec.max < 1000", FieldPath: ".spec.max", Reason: new(apiextensionsv1.FieldValueDuplicate)},
	}})
	for name, test := range map[string]struct {
		obj  any
		want []string
	}{
		"good":        {spec(`{"min":1,"max":2}`), nil},
		"good Go":     {resource.New(Ranges, "n", RangeSpec{Min: 1, Max: 2, Step: 1}), nil},
		"type's rule": {spec(`{"min":3,"max":2}`), []string{`spec: Invalid value: min is above max`}},
		"field's rule": {spec(`{"min":1,"max":2,"step":0}`),
			[]string{`spec.step: Invalid value: 0: failed rule: self != 0`}},
		"root's rule": {[]byte(`{"metadata":{"name":"evil"},"spec":{"min":1,"max":2}}`), []string{`<nil>: Forbidden: the name is evil`}},
		"field path":  {spec(`{"min":1,"max":2000}`), []string{`spec.max: Duplicate value`}},
		"union":       {spec(`{"min":1,"max":2,"actions":[{"run":"x","wait":3}]}`), []string{`spec.actions[0]: Invalid value: exactly one of the fields in [run wait] must be set`}},
		"two rules":   {spec(`{"min":3,"max":2,"step":0}`), []string{`spec: Invalid value: min is above max`, `spec.step: Invalid value: 0: failed rule: self != 0`}},
		"required": {spec(`{"min":3}`), []string{`spec.max: Required value`,
			`<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`}},
		"enum": {spec(`{"min":1,"max":2,"class":"c"}`), []string{`spec.class: Unsupported value: "c": supported values: "a", "b"`,
			`<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`}},
		"set": {spec(`{"min":1,"max":2,"hosts":["a","a"]}`), []string{`spec.hosts[1]: Duplicate value: "a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, faults(t, v.Validate(context.Background(), test.obj))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	v := validator(t, nil)
	for name, test := range map[string]struct {
		old, obj string
		want     []string
	}{
		"unchanged": {`{"min":1,"max":2,"class":"a"}`, `{"min":1,"max":2,"class":"a"}`, nil},
		"immutable": {`{"min":1,"max":2,"class":"a"}`, `{"min":1,"max":2,"class":"b"}`, []string{`spec.class: Invalid value: "b": field is immutable`}},
		"removed":   {`{"min":1,"max":2,"class":"a"}`, `{"min":1,"max":2}`, []string{`spec: Invalid value: field class is immutable once set`}},
		"set":       {`{"min":1,"max":2}`, `{"min":1,"max":2,"class":"a"}`, nil},
		"ratcheted": {`{"min":1,"max":2,"class":"c"}`, `{"min":1,"max":3,"class":"c"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := v.ValidateUpdate(context.Background(), spec(test.obj), spec(test.old))
			if diff := cmp.Diff(test.want, faults(t, err)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDefault(t *testing.T) {
	got, err := validator(t, nil).Default(spec(`{"min":1,"max":2,"unknown":3}`))
	want := `{"apiVersion":"example.com/v1","kind":"Range","metadata":{"name":"n"},"spec":{"max":2,"min":1,"step":1}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestCheck(t *testing.T) {
	type badSpec struct {
		Bad  string   `json:"bad" schema:"rule='self.missing'"`
		List []string `json:"list" schema:"rule='self.all(a, self.all(b, self.all(c, a == b && b == c)))'"`
	}
	def, err := crd.For(resource.DefineNamespaced[resource.Object[badSpec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Bad"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = cel.Check(context.Background(), def)
	for _, want := range []string{"spec.properties[bad].x-kubernetes-validations[0].rule", "type 'string' does not support field selection", "estimated rule cost exceeds budget"} {
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "[spec].", "spec."), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := cel.New(def, "v1"); err == nil {
		t.Error("New took a definition that Check refuses")
	}
}

func TestCheckUpdate(t *testing.T) {
	old, err := crd.For(Ranges, nil)
	if err != nil {
		t.Fatal(err)
	}
	old.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	if err := cel.CheckUpdate(context.Background(), old.DeepCopy(), old); err != nil {
		t.Error(err)
	}
	moved := old.DeepCopy()
	moved.Spec.Scope = apiextensionsv1.ClusterScoped
	if err := cel.CheckUpdate(context.Background(), moved, old); err == nil || !strings.Contains(err.Error(), "spec.scope") {
		t.Errorf("got %v", err)
	}
}

func TestBadObjects(t *testing.T) {
	v := validator(t, nil)
	for want, obj := range map[string]any{
		"the object is nil":          nil,
		"invalid character":          []byte("x"),
		"the object is a Range of x": map[string]any{"apiVersion": "x", "kind": "Range"},
		"unsupported type":           make(chan int),
	} {
		if err := v.Validate(context.Background(), obj); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	def, err := crd.For(Ranges, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cel.New(def, "v2"); err == nil || !strings.Contains(err.Error(), "v2") {
		t.Errorf("got %v", err)
	}
	if err := cel.Check(context.Background(), nil); err == nil {
		t.Error("Check took nil")
	}
}

func ExampleValidator_Validate() {
	definition, err := crd.For(Ranges, nil)
	if err != nil {
		panic(err)
	}
	validator, err := cel.New(definition, "v1")
	if err != nil {
		panic(err)
	}
	wrong := resource.New(Ranges, "wrong", RangeSpec{Min: 2, Max: 1, Step: 1})
	fmt.Println(validator.Validate(context.Background(), wrong))
	// Output: Range is invalid: spec: Invalid value: min is above max
}
