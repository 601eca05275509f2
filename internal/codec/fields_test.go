//lint:file-ignore SA5008,U1000 the tags and fields are what encoding/json has rules for, reached by reflection

package codec

import (
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

type (
	deep struct {
		Name string `json:"name"`
		Only string `json:"only"`
	}
	// shadows has a name that its embedded struct has too.
	shadows struct {
		deep
		Name string `json:"name"`
	}
	first  struct{ Z, A int }
	second struct{ Z, B int }
	third  struct {
		Q int `json:"Z"`
	}
	// conflict has Z twice at the same depth, so none of them counts.
	conflict struct {
		first
		second
	}
	// decided has a third Z, which counts since it has a tag.
	decided struct {
		first
		second
		third
	}
	left  struct{ deep }
	right struct{ deep }
	// diamond embeds deep twice, by two ways.
	diamond struct {
		left
		right
	}
	// Text is embedded, and is no struct.
	Text      string
	plainText string
	mixed     struct {
		Text
		plainText
		*Shared
		Named `json:"named"`
		error
		Skipped string `json:"-"`
		Comma   string `json:"-,"`
		Last    int
	}
	recursive struct {
		*recursive
		Value int `json:"value"`
	}
	// nestedEmbeds reaches deep at two depths.
	nestedEmbeds struct {
		left
		deep
	}
)

// TestFieldsAreThoseOfEncodingJSON compares the members and their order.
func TestFieldsAreThoseOfEncodingJSON(t *testing.T) {
	for _, value := range []any{
		shadows{}, conflict{}, decided{}, diamond{}, nestedEmbeds{}, mixed{Shared: &Shared{}}, recursive{},
		gadgetSpec{Shared: &Shared{}}, oddities{}, tolerated{}, corev1.ServiceSpec{}, deep{},
	} {
		typ := reflect.TypeOf(value)
		t.Run(typ.Name(), func(t *testing.T) {
			want, got := membersByEncodingJSON(t, value), fieldsOf(typ).names()
			got = slices.DeleteFunc(got, func(name string) bool {
				f := fieldsOf(typ).byName[name]
				return (f.omitEmpty || f.omitZero) && !slices.Contains(want, name)
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-encoding/json +ours:\n%s", diff)
			}
		})
	}
}

func membersByEncodingJSON(t *testing.T, value any) []string {
	t.Helper()
	data, err := jsonv1.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	dec := jsontext.NewDecoder(strings.NewReader(string(data)))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.String())
		if err := dec.SkipValue(); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// byValue and byPointer say themselves when they are zero.
type byValue int

func (v byValue) IsZero() bool { return v < 10 }

type byPointer struct{ N int }

func (p *byPointer) IsZero() bool { return p.N < 10 }

type zeroes struct {
	Scalar    int                        `json:"scalar,omitzero"`
	Text      string                     `json:"text,omitzero"`
	Array     [2]int                     `json:"array,omitzero"`
	Value     byValue                    `json:"value,omitzero"`
	Struct    byPointer                  `json:"struct,omitzero"`
	Pointer   *byPointer                 `json:"pointer,omitzero"`
	Interface interface{ IsZero() bool } `json:"interface,omitzero"`
	Values    map[string]byPointer       `json:"values,omitzero"`
	Inner     map[string]struct {
		Struct byPointer `json:"struct,omitzero"`
	} `json:"inner,omitzero"`
	Always byValue `json:"always"`
}

func TestEncodeApplyOmitZero(t *testing.T) {
	type inner = struct {
		Struct byPointer `json:"struct,omitzero"`
	}
	tests := []struct {
		name string
		obj  zeroes
		want string
	}{
		{"zero", zeroes{}, `{"always":0}`},
		{"nearly zero", zeroes{Value: 9, Struct: byPointer{9}, Pointer: &byPointer{9}, Interface: &byPointer{9}, Always: 9, Inner: map[string]inner{"a": {byPointer{9}}}}, `{"always":9,"inner":{"a":{}}}`},
		{"a nil pointer in an interface", zeroes{Interface: (*byPointer)(nil)}, `{"always":0}`},
		{"set", zeroes{Scalar: 1, Text: "a", Array: [2]int{0, 1}, Value: 10, Struct: byPointer{10}, Pointer: &byPointer{10}, Interface: byValue(10), Values: map[string]byPointer{"a": {}}, Inner: map[string]inner{"a": {byPointer{10}}}},
			`{"scalar":1,"text":"a","array":[0,1],"value":10,"struct":{"N":10},"pointer":{"N":10},"interface":10,"values":{"a":{"N":0}},"inner":{"a":{"struct":{"N":10}}},"always":0}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantApply(t, &test.obj, nil, test.want)
			if diff := cmp.Diff(canonical(t, test.want), canonical(t, mustEncode(t, &test.obj))); diff != "" {
				t.Errorf("the table is wrong (-want +encoding/json):\n%s", diff)
			}
		})
	}
}
