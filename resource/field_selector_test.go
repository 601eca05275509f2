package resource_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/go-kube/kube/resource"
)

func TestParseFieldSelector(t *testing.T) {
	object := map[string]string{"metadata.name": "web-0", "status.phase": "Running", "spec.note": `a,b=c\d`}
	for _, test := range []struct {
		text, want string
		matches    bool
	}{
		{"", "", true},
		{"metadata.name=web-0", "metadata.name=web-0", true},
		{"metadata.name==web-0", "metadata.name=web-0", true},
		{"metadata.name=web-1", "metadata.name=web-1", false},
		{"status.phase!=Running", "status.phase!=Running", false},
		{"status.phase!=Failed", "status.phase!=Failed", true},
		{"status.phase!=Failed,metadata.name=web-0", "metadata.name=web-0,status.phase!=Failed", true},
		{"status.phase!=Failed,metadata.name=web-1", "metadata.name=web-1,status.phase!=Failed", false},
		{"spec.missing=", "spec.missing=", true},
		{"spec.missing!=x", "spec.missing!=x", true},
		{"spec.missing=x", "spec.missing=x", false},
		{`spec.note=a\,b\=c\\d`, `spec.note=a\,b\=c\\d`, true},
		{",metadata.name=web-0,", "metadata.name=web-0", true},
	} {
		s, err := resource.ParseFieldSelector(test.text)
		if err != nil {
			t.Errorf("ParseFieldSelector(%q): %v", test.text, err)
			continue
		}
		if got := s.String(); got != test.want {
			t.Errorf("ParseFieldSelector(%q) = %q, want %q", test.text, got, test.want)
		}
		if s.Matches(object) != test.matches || s.MatchesFunc(lookupIn(object)) != test.matches {
			t.Errorf("%q matches: %t, by function %t", test.text, s.Matches(object), s.MatchesFunc(lookupIn(object)))
		}
		if s.Empty() != (test.want == "") {
			t.Errorf("ParseFieldSelector(%q).Empty() = %t", test.text, s.Empty())
		}
	}
}

func TestParseFieldSelectorErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"metadata.name", `field selector "metadata.name": column 1: found "metadata.name", want FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE`},
		{"b=1,a!2", `field selector "b=1,a!2": column 5: found "a!2", want FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE`},
		{"a=b=c", `field selector "a=b=c": column 1: found "a=b=c", write \= for an equal sign in a value`},
		{`x=1,a=\b`, `field selector "x=1,a=\\b": column 5: found "a=\\b", a backslash goes before a comma, an equal sign or another backslash only`},
		{`a=b\`, `field selector "a=b\\": column 1: found "a=b\\", a backslash goes before a comma, an equal sign or another backslash only`},
		{"a=1, b=2", `field selector "a=1, b=2": column 5: found field " b", want a path such as metadata.name, without blanks`},
		{"=", `field selector "=": column 1: found field "", want a path such as metadata.name, without blanks`},
		{"!=x", `field selector "!=x": column 1: found field "", want a path such as metadata.name, without blanks`},
	} {
		_, err := resource.ParseFieldSelector(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("ParseFieldSelector(%q):\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestFieldSelectorsBuilt(t *testing.T) {
	named := resource.FieldIs("metadata.name", "a,b=c")
	if got, want := named.String(), `metadata.name=a\,b\=c`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	running, err := resource.ParseFieldSelector("status.phase=Running")
	if err != nil {
		t.Fatal(err)
	}
	both := named.And(running)
	if got, want := both.String(), `metadata.name=a\,b\=c,status.phase=Running`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if both.Matches(map[string]string{"metadata.name": "a,b=c"}) {
		t.Error("a term of And is ignored")
	}
	var everything resource.FieldSelector
	if got := everything.And(named).String() + named.And(everything).String(); got != strings.Repeat(named.String(), 2) {
		t.Errorf("with everything: %q", got)
	}
	if !everything.Empty() || !everything.Matches(nil) || !everything.MatchesFunc(lookupIn(nil)) || everything.String() != "" {
		t.Error("the zero FieldSelector does not select everything")
	}
}

func FuzzParseFieldSelector(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a==b", "a!=b", "a=b,c=d", `a=\,\=\\`, "a", "=", "a=b=c", `a=\b`, " a=b", "a==,a=1", "a=b,a==b", "b=1,a!=1,a=1"} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, field, value string) {
		got, err := resource.ParseFieldSelector(text)
		want, wantErr := fields.ParseSelector(text)
		if err != nil {
			checkColumn(t, text, err)
			if wantErr == nil && !strings.Contains(err.Error(), "found field") {
				t.Fatalf("ParseFieldSelector(%q): %v, apimachinery has no error", text, err)
			}
			return
		}
		if wantErr != nil {
			t.Fatalf("ParseFieldSelector(%q) has no error, apimachinery: %v", text, wantErr)
		}
		object := map[string]string{field: value}
		if got.Matches(object) != want.Matches(fields.Set(object)) || got.MatchesFunc(lookupIn(object)) != got.Matches(object) {
			t.Errorf("%q on %v: %t, apimachinery %t", text, object, got.Matches(object), want.Matches(fields.Set(object)))
		}
		back, err := resource.ParseFieldSelector(got.String())
		if err != nil || back.String() != got.String() || back.Matches(object) != got.Matches(object) {
			t.Errorf("%q reads back as %q, %v", got, back, err)
		}
		if again := got.And(back); again.String() != got.String() {
			t.Errorf("%q and itself is %q", got, again)
		}
	})
}

// Whatever means the same has one text, since caches are shared by it.
func TestSelectorsHaveOneText(t *testing.T) {
	for _, same := range [][]string{
		{"a=1,a=", "a=,a=1", "a==,a=1", "a=,a==1,a="},
		{"b=1,a!=2", "a!=2,b==1"},
	} {
		for _, text := range same {
			got, err := resource.ParseFieldSelector(text)
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(text, ",")
			a, _ := resource.ParseFieldSelector(first)
			b, _ := resource.ParseFieldSelector(rest)
			want, _ := resource.ParseFieldSelector(same[0])
			if got.String() != want.String() || b.And(a).String() != want.String() {
				t.Errorf("%q: %q, and put together %q; want %q", text, got, b.And(a), want)
			}
		}
	}
	for _, same := range [][]string{
		{"a=1,a!=2,b", "b,a!=2,a=1", "a!=2,b,a=1"},
		{"a in (x,y),a notin (z)", "a notin (z),a in (y,x)"},
		{"a=1,b", "b,a==1", "a==1,a=1,b,b,a=1"},
	} {
		want, _ := resource.ParseSelector(same[0])
		for _, text := range same {
			if got, err := resource.ParseSelector(text); err != nil || got.String() != want.String() {
				t.Errorf("%q: %q, %v; want %q", text, got, err, want)
			}
		}
	}
}
