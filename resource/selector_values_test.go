package resource_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
		}
	}
}

// A value twice would be two looks at the same objects.
func TestSelectorValuesAreThereOnce(t *testing.T) {
	selector, err := resource.SelectorOf(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"b", "a", "b"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := selector.Values("app"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, want a and b", got)
	}
}
