package main

import (
	"bytes"
	"context"
	"errors"
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
  names: {plural: colors, singular: color, kind: Color, listKind: ColorList}
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
	for name, test := range map[string]struct {
		args          []string
		wantOut, want string // in the output and the error; no error when empty
	}{
		"good": {[]string{"check", good}, "colors.example.com: ok", ""},
		"refused": {[]string{"check", good, crdFile(t, "{type: string}", "{type: string, x-kubernetes-validations: [{rule: self.x}]}")},
			"does not support field selection", "would refuse 1 of the definitions"},
		"unknown field":  {[]string{"check", crdFile(t, "scope:", "scopes:")}, "", `unknown field "scopes"`},
		"no definition":  {[]string{"check", crdFile(t, "CustomResourceDefinition", "Else")}, "", "there is no CustomResourceDefinition in it"},
		"no file":        {[]string{"check", "absent.yaml"}, "", "absent.yaml"},
		"same":           {[]string{"diff", good, good}, "", ""},
		"compatible":     {[]string{"diff", good, crdFile(t, "{type: string}", "{type: string, default: red}")}, `compatible: v1 .spec.color: default changed from none to "red"`, ""},
		"breaking":       {[]string{"diff", good, crdFile(t, "color: {type: string}", "hue: {type: string}")}, "breaking: v1 .spec.color: field removed", "1 of the changes"},
		"other name":     {[]string{"diff", good, crdFile(t, "name: colors.example", "name: hues.example")}, "breaking: definition: definition removed", "1 of the changes"},
		"wrong command":  {[]string{"chek", good}, "", errUsage.Error()},
		"missing second": {[]string{"diff", good}, "", errUsage.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			var out, log bytes.Buffer
			err := run(context.Background(), append([]string{"crd"}, test.args...), &out, &log)
			if !strings.Contains(out.String(), test.wantOut) {
				t.Errorf("printed %s, want %s", out.String(), test.wantOut)
			}
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
			if errors.Is(err, errUsage) && !strings.Contains(log.String(), "kube crd check FILE") {
				t.Errorf("told %s", log.String())
			}
		})
	}
}
