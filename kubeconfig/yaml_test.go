package kubeconfig

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What is written is read as the same JSON by the library that kubectl uses.
func FuzzAppendYAML(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[1,[2,[3]],{"c":{"d":[]}},{}],"e":{},"f":null,"g":true,"h":-1.5e3}`,
		`{"yes":"no","null":"null","1":"1","~":"~","":"","a: b":"c #d","x:":"- y","/p:1":"http://a:1/b?c","2020-01-01":"0x1f","é":"ü\n\t","u":"\u2028\u0085\u007f\ufeff"}`,
		`[{"name":"a","list":[{"x":1,"y":[{"z":2}]}]},"tail"]`, `{"a":[[[]]],"b":[{"c":[{}]}]}`, `{"=":"=","<<":"<<",".inf":".nan","Off":"ON"}`,
		`[{"` + strings.Repeat(`\u0001`, 200) + `":[{"` + strings.Repeat("é", 600) + `":{"a":1}}],"b":1}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := jsontext.Value(text)
		if want.Canonicalize() != nil || len(want) == 0 || want.Kind() != '{' && want.Kind() != '[' {
			return
		}
		doc, err := appendYAML(nil, want, 0)
		if err != nil {
			t.Fatal(err)
		}
		converted, err := yaml.YAMLToJSON(doc)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		got := jsontext.Value(converted)
		if err := got.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("wrote\n%s\nread %s\nwant %s", doc, got, want)
		}
	})
}
