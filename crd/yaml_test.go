package crd_test

import (
	"strings"
	"testing"

	"github.com/go-kube/kube/crd"
)

func TestYAML(t *testing.T) {
	one, two := stored(t, "5", "NamesAccepted=True", "Established=True"), webAppCRD(t)
	two.Name = "others.example.com"
	two.TypeMeta.Kind, two.Labels = "", map[string]string{"a": "b"}
	text, err := crd.YAML(one, two)
	if err != nil {
		t.Fatal(err)
	}
	again, err := crd.YAML(one, two)
	if err != nil || string(again) != string(text) {
		t.Errorf("two calls differ, %v", err)
	}
	documents := strings.Split(string(text), "---\n")
	if len(documents) != 2 {
		t.Fatalf("got %d documents, want 2:\n%s", len(documents), text)
	}
	for i, head := range []string{
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: webapps.example.com\nspec:\n",
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  labels:\n    a: b\n  name: others.example.com\nspec:\n",
	} {
		if !strings.HasPrefix(documents[i], head) {
			t.Errorf("document %d begins\n%.200s\nwant\n%s", i, documents[i], head)
		}
		if strings.Contains(documents[i], "\nstatus:") || strings.Contains(documents[i], "resourceVersion") {
			t.Errorf("document %d has what the server set:\n%s", i, documents[i])
		}
	}
	if text, err := crd.YAML(); err != nil || len(text) != 0 {
		t.Errorf("nothing gave %q, %v", text, err)
	}
	if _, err := crd.YAML(one, nil); err == nil || err.Error() != "crd: definition 1 is nil" {
		t.Errorf("a nil definition gave %v", err)
	}
}
