package kubeconfig_test

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Fields that are not known, wherever they stand, come through reading, a change and writing.
func TestUnknownFieldsAreKept(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"Config","new":{"a":[1,"two",null,1.50]},"preferences":{"colors":true,"new":1},
		"extensions":[{"name":"e","extension":{"x":{"y":[]}},"new":0}],
		"clusters":[{"name":"c","new":"beside","cluster":{"server":"https://a","new":true,"extensions":[{"name":"e","extension":"text"}]}}],
		"contexts":[{"name":"x","new":[],"context":{"cluster":"c","user":"u","new":{"deep":{"er":1}},"extensions":[{"name":"e","extension":null}]}}],
		"users":[{"name":"u","new":null,"user":{"new":"12345678901234567890","exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"login",
			"interactiveMode":"Never","new":12345678901234567890,"env":[{"name":"A","value":"b","new":"c"}]}}},
			{"name":"v","user":{"auth-provider":{"name":"oidc","new":1,"config":{"anything":"kept"}}}}],
		"current-context":"x"}`
	c := parse(t, text)
	c.CurrentContext = "changed"
	written, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.YAMLToJSON(written)
	if err != nil {
		t.Fatal(err)
	}
	want := jsontext.Value(text)
	c = parse(t, string(got))
	if c.CurrentContext != "changed" {
		t.Errorf("current-context is %q", c.CurrentContext)
	}
	c.CurrentContext = "x"
	if written, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	if got, err = yaml.YAMLToJSON(written); err != nil {
		t.Fatal(err)
	}
	value := jsontext.Value(got)
	if !strings.Contains(string(got), `"new":12345678901234567890`) { // which a float is too small for
		t.Errorf("a long number is not kept: %s", got)
	}
	if want.Canonicalize() != nil || value.Canonicalize() != nil || string(want) != string(value) {
		t.Errorf("read    %s\nwritten %s", want, value)
	}
}
