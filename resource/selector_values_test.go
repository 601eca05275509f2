package resource_test

import (
	"slices"
	"testing"

	"github.com/go-kube/kube/resource"
)

func TestSelectorValues(t *testing.T) {
	for text, want := range map[string][]string{
		"app=web": {"web"}, "app==web": {"web"}, "app in (b,a)": {"a", "b"}, "app,app=x": {"x"}, "app=": {""},
		"app!=web": nil, "app notin (a)": nil, "app": nil, "!app": nil, "app>1": nil, "other=web": nil, "": nil,
	} {
		selector, err := resource.ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := selector.Values("app")
		if slices.Sort(got); !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
		}
	}
}
