package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const colorsYAML = `apiVersion: v1
kind: Namespace
metadata: {name: colors}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colors.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: colors, singular: color, kind: Color, listKind: ColorList, shortNames: [co]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string}
`

func crdFile(t *testing.T, replacements ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "colors.yaml")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(replacements...).Replace(colorsYAML)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCRD(t *testing.T) {
	good := crdFile(t)
	folder := filepath.Dir(good)
	writeText(t, filepath.Join(folder, "more", "object.json"), `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`)
	writeText(t, filepath.Join(folder, "kustomizeconfig.yaml"), "nameReference:\n- kind: Service\n  fieldSpecs:\n  - {kind: CustomResourceDefinition, path: spec/conversion}\n")
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	const found, unjudged, usage = 1, 2, 2 // what it ends with
	for name, test := range map[string]struct {
		args          []string
		status        int
		wantOut, want string // in the output and the error; no error when empty
	}{
		"good":    {[]string{"check", good}, 0, good + ": colors.example.com: ok\n", ""},
		"folder":  {[]string{"check", folder}, 0, good + ": colors.example.com: ok\n", ""},
		"address": {[]string{"check", server.URL + "/colors.yaml"}, 0, "/colors.yaml: colors.example.com: ok\n", ""},
		"refused": {[]string{"check", good, crdFile(t, "{type: string}", "{type: string, x-kubernetes-validations: [{rule: self.x}]}")}, found,
			"does not support field selection", "would refuse 1 of the definitions"},
		"unknown field":   {[]string{"check", crdFile(t, "scope:", "scopes:")}, unjudged, "", `unknown field "scopes"`},
		"key twice":       {[]string{"check", crdFile(t, "scope:", "group: a.b\n  scope:")}, unjudged, "", `key "group" already set`},
		"no definition":   {[]string{"check", crdFile(t, "CustomResourceDefinition", "Else")}, unjudged, "", "there is no CustomResourceDefinition in it"},
		"no file":         {[]string{"check", "absent.yaml"}, unjudged, "", "absent.yaml"},
		"same":            {[]string{"diff", good, good}, 0, "", ""},
		"folders":         {[]string{"diff", folder, filepath.Dir(crdFile(t, "color: {type: string}", "hue: {type: string}"))}, found, "breaking: v1 .spec.color: field removed", "1 of the changes"},
		"compatible":      {[]string{"diff", good, crdFile(t, "{type: string}", "{type: string, default: red}")}, 0, `compatible: v1 .spec.color: default changed from none to "red"`, ""},
		"breaking":        {[]string{"diff", good, crdFile(t, "color: {type: string}", "hue: {type: string}")}, found, "breaking: v1 .spec.color: field removed", "1 of the changes"},
		"other name":      {[]string{"diff", good, crdFile(t, "name: colors.example", "name: hues.example")}, found, "breaking: definition: definition removed", "1 of the changes"},
		"there twice":     {[]string{"diff", good, twice(t)}, unjudged, "", "colors.example.com is there twice: in "},
		"no old file":     {[]string{"diff", "absent.yaml", good}, unjudged, "", "absent.yaml"},
		"wrong command":   {[]string{"chek", good}, usage, "", `"chek" is neither a command nor a package, which is written as ./chek; did you mean "check"?`},
		"nothing":         {nil, usage, "", "say which packages"},
		"nothing checked": {[]string{"check"}, usage, "", "check needs definitions to check"},
		"missing second":  {[]string{"diff", good}, usage, "", "diff compares two sources, and there are 1"},
		"flag of another": {[]string{"-check", "check", good}, usage, "", "the flags are for kube crd PACKAGE"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, log bytes.Buffer
			err := run(t.Context(), append([]string{"crd"}, test.args...), &out, &log)
			if !strings.Contains(out.String(), test.wantOut) {
				t.Errorf("printed %s, want %s", out.String(), test.wantOut)
			}
			said := log.String()
			if err != nil && !errors.Is(err, errUsage) {
				said = err.Error()
			}
			if (err != nil) != (test.want != "") || !strings.Contains(said, test.want) {
				t.Errorf("got %v and %s, want %s", err, log.String(), test.want)
			}
			if got := exitCode(err); got != test.status {
				t.Errorf("it ends with %d, want %d", got, test.status)
			}
		})
	}
}

// twice is a folder with two files of one definition.
func twice(t *testing.T) string {
	t.Helper()
	folder := filepath.Dir(crdFile(t))
	writeText(t, filepath.Join(folder, "again.yaml"), colorsYAML)
	return folder
}
