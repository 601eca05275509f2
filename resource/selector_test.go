package resource_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/go-kube/kube/resource"
)

func TestParseSelector(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{" \t\n", ""},
		{"a=b", "a=b"},
		{"a==b", "a=b"},
		{"a=b,c,a==b,c", "a=b,c"},
		{"a!=b", "a!=b"},
		{" a = b , c ", "a=b,c"},
		{"a in (c,b,b)", "a in (b,c)"},
		{"a notin (b)", "a notin (b)"},
		{"a in(b),c", "a in (b),c"},
		{"a", "a"},
		{"!a", "!a"},
		{"! a", "!a"},
		{"a>1,b<2", "a>1,b<2"},
		{"z,a", "a,z"},
		{"a=", "a="},
		{"a=,b", "a=,b"},
		{"a in ()", "a in ()"},
		{"a in (,b)", "a in (,b)"},
		{"in in (in,notin)", "in in (in,notin)"},
		{"notin", "notin"},
		{"app.kubernetes.io/name=web", "app.kubernetes.io/name=web"},
	} {
		s, err := resource.ParseSelector(test.text)
		if err != nil {
			t.Errorf("ParseSelector(%q): %v", test.text, err)
			continue
		}
		if got := s.String(); got != test.want {
			t.Errorf("ParseSelector(%q) = %q, want %q", test.text, got, test.want)
		}
		if got, want := s.Empty(), test.want == ""; got != want {
			t.Errorf("ParseSelector(%q).Empty() = %t", test.text, got)
		}
	}
}

func TestParseSelectorErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"app=web,tier in prod", `label selector "app=web,tier in prod": column 17: found "prod", want '('`},
		{"prod=1,tier in prod", `label selector "prod=1,tier in prod": column 16: found "prod", want '('`},
		{"tier in", `label selector "tier in": column 8: found the end, want '('`},
		{"a in (b,c", `label selector "a in (b,c": column 10: found the end, want ',' or ')'`},
		{"a in (b c)", `label selector "a in (b c)": column 9: found "c", want ',' or ')'`},
		{"a=b c", `label selector "a=b c": column 5: found "c", want ',' or 'end of string'`},
		{"a,", `label selector "a,": column 3: found the end, want identifier after ','`},
		{",a", `label selector ",a": column 1: found ",", want !, identifier, or 'end of string'`},
		{"a===b", `label selector "a===b": column 4: found "=", want identifier`},
		{"!", `label selector "!": column 2: found the end, want identifier`},
		{"!!a", `label selector "!!a": column 2: found "!", want identifier`},
		{"!a=b", `label selector "!a=b": column 3: found "=", want ',' or 'end of string'`},
		{"a!b", `label selector "a!b": column 2: found "!", want in, notin, =, ==, !=, gt, lt`},
		{"a>b", `label selector "a>b": column 3: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"a>", `label selector "a>": column 3: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"a,>b", `label selector "a,>b": column 3: found ">", want identifier after ','`},
		{"x,a_=b", `label selector "x,a_=b": column 3: Invalid value: "a_": name part must consist of`},
		{"a=b_", `label selector "a=b_": column 3: values[0][a]: Invalid value: "b_": a valid label must be`},
		{"\x00a=b", `label selector "\x00a=b": column 1: found a NUL byte`},
	} {
		_, err := resource.ParseSelector(test.text)
		if err == nil {
			t.Errorf("ParseSelector(%q) gave no error", test.text)
			continue
		}
		if got := err.Error(); len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("ParseSelector(%q):\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestSelectorMatches(t *testing.T) {
	object := map[string]string{"app": "web", "tier": "front", "shard": "7", "empty": ""}
	for _, test := range []struct {
		selector string
		want     bool
	}{
		{"", true},
		{"app=web", true},
		{"app==web", true},
		{"app=db", false},
		{"missing=web", false},
		{"missing=", false},
		{"empty=", true},
		{"app!=db", true},
		{"app!=web", false},
		{"missing!=web", true},
		{"app in (db,web)", true},
		{"app in (db)", false},
		{"missing in (db)", false},
		{"app notin (db)", true},
		{"app notin (db,web)", false},
		{"missing notin (db)", true},
		{"app", true},
		{"empty", true},
		{"missing", false},
		{"!app", false},
		{"!missing", true},
		{"shard>6", true},
		{"shard>7", false},
		{"shard<8", true},
		{"app>1", false},
		{"missing>1", false},
		{"app in (web),tier notin (back),shard,!missing", true},
		{"app in (web),tier notin (front),shard,!missing", false},
	} {
		s := mustParse(t, test.selector)
		if got := s.Matches(object); got != test.want {
			t.Errorf("%q matches %v: %t", test.selector, object, got)
		}
		if got := s.MatchesFunc(lookupIn(object)); got != test.want {
			t.Errorf("%q matches the function of %v: %t", test.selector, object, got)
		}
	}
	if !(resource.Selector{}).Matches(nil) {
		t.Error("the zero Selector does not match an object without labels")
	}
}

func lookupIn(m map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		value, ok := m[key]
		return value, ok
	}
}

func mustParse(t *testing.T, text string) resource.Selector {
	t.Helper()
	s, err := resource.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSelectorOf(t *testing.T) {
	expressions := func(e ...metav1.LabelSelectorRequirement) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: e}
	}
	for _, test := range []struct {
		what     string
		selector *metav1.LabelSelector
		want     string
	}{
		{"nil", nil, "!nothing,nothing"},
		{"no requirement", &metav1.LabelSelector{}, ""},
		{"labels", &metav1.LabelSelector{MatchLabels: map[string]string{"b": "2", "a": "1"}}, "a=1,b=2"},
		{"all operators", expressions(
			metav1.LabelSelectorRequirement{Key: "d", Operator: metav1.LabelSelectorOpDoesNotExist},
			metav1.LabelSelectorRequirement{Key: "c", Operator: metav1.LabelSelectorOpExists},
			metav1.LabelSelectorRequirement{Key: "b", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"y", "x"}},
			metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"y", "x", "y"}},
		), "a in (x,y),b notin (x,y),c,!d"},
		{"both", &metav1.LabelSelector{
			MatchLabels:      map[string]string{"b": "2"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}},
		}, "a,b=2"},
	} {
		t.Run(test.what, func(t *testing.T) {
			before := test.selector.DeepCopy()
			s, err := resource.SelectorOf(test.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if back := mustParse(t, s.String()); back.String() != s.String() {
				t.Errorf("%q reads back as %q", s, back)
			}
			if diff := cmp.Diff(before, test.selector); diff != "" {
				t.Errorf("the argument was changed:\n%s", diff)
			}
		})
	}
}

func TestNilLabelSelectorSelectsNothing(t *testing.T) {
	s, err := resource.SelectorOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []map[string]string{nil, {"nothing": ""}, {"nothing": "x", "a": "b"}} {
		if s.Matches(object) || mustParse(t, s.String()).Matches(object) {
			t.Errorf("%v is selected", object)
		}
	}
	if s.Empty() {
		t.Error("Empty says that it selects everything")
	}
}

func TestSelectorOfErrors(t *testing.T) {
	for _, test := range []struct {
		selector metav1.LabelSelector
		want     string
	}{
		{metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "ok", Operator: "Exists"}, {Key: "a", Operator: "in"}}},
			`label selector: matchExpressions[1]: operator "in" of key "a": want In, NotIn, Exists or DoesNotExist`},
		{metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}},
			`label selector: matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`},
		{metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists", Values: []string{"b"}}}},
			`label selector: matchExpressions[0].values: Invalid value: ["b"]: values set must be empty for exists and does not exist`},
		{metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}},
			`label selector: matchLabels.key: Invalid value: "a b": name part must consist of`},
		{metav1.LabelSelector{MatchLabels: map[string]string{"a": "b c"}},
			`label selector: matchLabels.values[0][a]: Invalid value: "b c": a valid label must be`},
	} {
		_, err := resource.SelectorOf(&test.selector)
		if err == nil {
			t.Errorf("%v gave no error", test.selector)
			continue
		}
		if got := err.Error(); len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestLabelSelectorOfSelector(t *testing.T) {
	for _, test := range []struct {
		text string
		want metav1.LabelSelector
	}{
		{"", metav1.LabelSelector{}},
		{"a=1,b==2", metav1.LabelSelector{MatchLabels: map[string]string{"a": "1", "b": "2"}}},
		{"a=1,a=2", metav1.LabelSelector{
			MatchLabels:      map[string]string{"a": "1"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"2"}}},
		}},
		{"a!=1,b in (x,y),c notin (x),d,!e", metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: "NotIn", Values: []string{"1"}},
			{Key: "b", Operator: "In", Values: []string{"x", "y"}},
			{Key: "c", Operator: "NotIn", Values: []string{"x"}},
			{Key: "d", Operator: "Exists"},
			{Key: "e", Operator: "DoesNotExist"},
		}}},
	} {
		got, err := mustParse(t, test.text).LabelSelector()
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
	_, err := mustParse(t, "a>1").LabelSelector()
	want := "label selector: a>1 cannot be written as a LabelSelector: its operators are In, NotIn, Exists and DoesNotExist"
	if err == nil || err.Error() != want {
		t.Errorf("a>1: got error %v, want %s", err, want)
	}
}

func TestSelectorAnd(t *testing.T) {
	a, b := mustParse(t, "z=1,a"), mustParse(t, "m in (x)")
	if got, want := a.And(b).String(), "a,m in (x),z=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := a.String()+" "+b.String(), "a,z=1 m in (x)"; got != want {
		t.Errorf("And changed its operands: %q, want %q", got, want)
	}
	if got := (resource.Selector{}).And(b).String(); got != "m in (x)" {
		t.Errorf("everything and %q gives %q", b, got)
	}
}

var column = regexp.MustCompile(`: column (\d+): `)

func FuzzParseSelector(f *testing.F) {
	for _, seed := range []string{
		"", "a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin ()", "a>1,b<2", "a in (,,b)", "in notin (in)",
		"a=b c", "a,", "a in (b", "x/y=z", "a===b", "a!b", "\x00", "a\xff=b", "a=c,a=b", "a==b,a=b,a=b", "a in (b),a=b", "a>1,a>01,a<-1", "a in (,),a notin (,b)", "!a,a,!a", "a>9223372036854775808",
	} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		got, err := resource.ParseSelector(text)
		want, wantErr := labels.Parse(text)
		if err != nil {
			checkColumn(t, text, err)
		}
		if (err == nil) != (wantErr == nil) {
			if strings.Contains(text, "\x00") {
				return // apimachinery stops reading at a NUL byte
			}
			t.Fatalf("ParseSelector(%q): %v, apimachinery: %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		object := map[string]string{key: value}
		if a, b := got.Matches(object), want.Matches(labels.Set(object)); a != b {
			t.Errorf("%q matches %v: %t, apimachinery %t", text, object, a, b)
		}
		if got.MatchesFunc(lookupIn(object)) != got.Matches(object) {
			t.Errorf("%q: MatchesFunc and Matches disagree on %v", text, object)
		}
		checkRoundTrips(t, got, object)
	})
}

// checkColumn looks whether a syntax error points into text.
func checkColumn(t *testing.T, text string, err error) {
	match := column.FindStringSubmatch(err.Error())
	if match == nil {
		t.Fatalf("%q: the error has no column: %v", text, err)
	}
	if n, _ := strconv.Atoi(match[1]); n < 1 || n > len(text)+1 {
		t.Errorf("%q: column %d: %v", text, n, err)
	}
}

func checkRoundTrips(t *testing.T, s resource.Selector, object map[string]string) {
	back, err := resource.ParseSelector(s.String())
	if err != nil || back.String() != s.String() || back.Matches(object) != s.Matches(object) {
		t.Errorf("%q reads back as %q, %v", s, back, err)
	}
	if again := s.And(back); again.String() != s.String() {
		t.Errorf("%q and itself is %q", s, again)
	}
	asObject, err := s.LabelSelector()
	if err != nil {
		return // > and <
	}
	again, err := resource.SelectorOf(asObject)
	if err != nil || again.Matches(object) != s.Matches(object) {
		t.Errorf("%q becomes %q through a LabelSelector, %v", s, again, err)
	}
}

func BenchmarkSelectorMatchesFunc(b *testing.B) {
	s, err := resource.ParseSelector("app=web,tier in (front,back),!canary")
	if err != nil {
		b.Fatal(err)
	}
	lookup := lookupIn(map[string]string{"app": "web", "tier": "back", "pod-template-hash": "5d4f8c7b9"})
	b.ReportAllocs()
	for b.Loop() {
		if !s.MatchesFunc(lookup) {
			b.Fatal("no match")
		}
	}
}
