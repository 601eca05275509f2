package gotypes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{
		"replicas": "Replicas", "tlsConfig": "TLSConfig", "serverUrl": "ServerURL", "clusterIPs": "ClusterIPs", "podIPs": "PodIPs",
		"HTTPRoute": "HTTPRoute", "caBundle": "CABundle", "kube-api": "KubeAPI", "x_y.z": "XYZ", "5xx": "X5xx", "$ref": "Ref",
		"1.2": "X1_2", "": "Field", "!=": "Field", "ids": "IDs", "apiVersion": "APIVersion", "ÄÖ": "ÄÖ", "名": "X名",
	} {
		if got := goName(name); got != want {
			t.Errorf("goName(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestSingular(t *testing.T) {
	for name, want := range map[string]string{
		"endpoints": "endpoint", "policies": "policy", "addresses": "address", "status": "status", "matches": "match", "class": "class",
		"ips": "ips", "series": "series", "boxes": "box", "rules": "rule", "analysis": "analysis",
	} {
		if got := singular(name); got != want {
			t.Errorf("singular(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestKindsName(t *testing.T) {
	for _, c := range []struct{ kind, plural, want string }{
		{"Gateway", "gateways", "Gateways"}, {"HTTPRoute", "httproutes", "HTTPRoutes"}, {"Policy", "policies", "Policies"},
		{"Metadata", "metadata", "MetadataKind"}, {"BGPPeer", "bgppeers", "BGPPeers"}, {"Foo", "bars", "FooKind"},
	} {
		if got := kindsName(c.kind, c.plural); got != c.want {
			t.Errorf("kindsName(%q, %q) is %q, want %q", c.kind, c.plural, got, c.want)
		}
	}
}

// TestComments tells which descriptions a comment can hold.
func TestComments(t *testing.T) {
	for name, c := range map[string]struct{ description, field, typ string }{
		"plain":           {"One.\nTwo.", "One.\nTwo.", "One.\nTwo."},
		"paragraphs":      {"One.\n\nTwo.", "One.\n\nTwo.", "One.\n\nTwo."},
		"marker":          {"One.\n+two", "One.", "One."},
		"to do":           {"TODO: one\nTwo.", "Two.", "Two."},
		"dashes":          {"One.\n---\nTwo.", "One.", "One."},
		"list":            {"One:\n  - a\n  - b", "One:\n  - a\n  - b", "One:\n  - a\n  - b"},
		"other bullets":   {"One:\n  * a", "One:\n  * a", "One:\n  - a"},
		"blanks":          {"One. \nTwo.", "One.\nTwo.", "One.\nTwo."},
		"nothing":         {"", "", ""},
		"control":         {"One\x00.", "One.", "One."},
		"carriage return": {"One.\r\nTwo.", "One.\nTwo.", "One.\nTwo."},
	} {
		if got := fieldComment(c.description); got != c.field {
			t.Errorf("%s: of the comment of a field, %q is read, want %q", name, got, c.field)
		}
		if got := typeComment(c.description); got != c.typ {
			t.Errorf("%s: of the comment of a type, %q is read, want %q", name, got, c.typ)
		}
	}
}

func TestOneOfWord(t *testing.T) {
	s := &props{Properties: map[string]props{"a": {}, "b": {}, "r": {}}, Required: []string{"r"}}
	has := func(names ...string) props { return props{Required: names} }
	none := func(branches ...props) props { return props{Not: &props{AnyOf: branches}} }
	for name, c := range map[string]struct {
		branches []props
		want     string
	}{
		"one":       {[]props{has("a"), has("b")}, "oneOf=a|b"},
		"none":      {[]props{none(has("a"), has("b")), has("a"), has("b")}, "oneOfOrNone=a|b"},
		"less":      {[]props{none(has("a")), has("a"), has("b")}, ""},
		"two":       {[]props{has("a", "b")}, ""},
		"required":  {[]props{has("a"), has("r")}, ""},
		"twice":     {[]props{has("a"), has("a")}, ""},
		"unknown":   {[]props{has("a"), has("c")}, ""},
		"something": {[]props{has("a"), {Required: []string{"b"}, MinProperties: new(int64(2))}}, ""},
	} {
		if got := oneOfWord(s, c.branches); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestUnions has rules in the words of controller-gen before other rules, and after.
func TestUnions(t *testing.T) {
	most := rule{Rule: "(has(self.a)?1:0)+(has(self.b)?1:0) <= 1", Message: "at most one of the fields in [a b] may be set"}
	least := rule{Rule: "has(self.a)||has(self.b)", Message: "at least one of the fields in [a b] must be set"}
	other := rule{Rule: "self.a != ''"}
	near := rule{Rule: "has(self.a)", Message: least.Message}
	s := func(rules ...rule) *props {
		return &props{Properties: map[string]props{"a": {}, "b": {}}, XValidations: apiextensionsv1.ValidationRules(rules)}
	}
	for name, c := range map[string]struct {
		of    *props
		words []string
		rest  []rule
	}{
		"first":      {s(most, least, other), []string{"atMostOneOf=a|b", "atLeastOneOf=a|b"}, []rule{other}},
		"last":       {s(other, most), nil, []rule{other, most}},
		"other rank": {s(least, most), []string{"atLeastOneOf=a|b"}, []rule{most}},
		"nearly":     {s(near), nil, []rule{near}},
	} {
		words, rest := rulesOfType(c.of)
		if diff := cmp.Diff(c.words, words) + cmp.Diff(c.rest, rest); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestDifference makes a patch, and applies nothing that is the same.
func TestDifference(t *testing.T) {
	got := map[string]any{"a": "1", "b": map[string]any{"c": "2", "d": "3"}, "e": []any{"4"}}
	want := map[string]any{"a": "1", "b": map[string]any{"c": "5", "f": map[string]any{}}, "e": []any{"4", "6"}}
	patch := map[string]any{"b": map[string]any{"c": "5", "d": nil, "f": map[string]any{}}, "e": []any{"4", "6"}}
	if diff := cmp.Diff(patch, difference(got, want)); diff != "" {
		t.Error(diff)
	}
}
