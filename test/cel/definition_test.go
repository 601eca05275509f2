package cel

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/test/servers"
)

// judgedDefinition is a definition of testdata/definitions, whose name is that of the kind.
type judgedDefinition struct {
	Name string `json:"name"`
	table
}

// TestDefinitions has a server and package crd/cel judge definitions: both have to say what the
// golden file says.
func TestDefinitions(t *testing.T) {
	text, err := os.ReadFile("testdata/definitions/definitions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var defs []judgedDefinition
	if err := yaml.Unmarshal(text, &defs); err != nil {
		t.Fatal(err)
	}
	server := servers.Shared(t)
	s := &session{http: server.HTTPClient(), url: server.URL()}
	var verdicts strings.Builder
	for _, d := range defs {
		d.name = d.Name
		def := d.definition()
		body, err := marshal(def)
		if err != nil {
			t.Fatal(err)
		}
		want, got := "accepted", "accepted"
		if status := s.send(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", body); status.Message != "" {
			_, want, _ = strings.Cut(status.Message, " is invalid: ")
		}
		if err := cel.Check(t.Context(), def); err != nil {
			got = strings.TrimPrefix(err.Error(), "cel: definition "+def.Name+": ")
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: verdicts differ (-server +crd/cel):\n%s", d.name, diff)
		}
		fmt.Fprintf(&verdicts, "%s\n%s\n\n", d.name, want)
	}
	compareGolden(t, "testdata/definitions/definitions.golden", verdicts.String())
}
