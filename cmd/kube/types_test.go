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

	"github.com/go-kube/kube/k8s/apiextensions"
	"golang.org/x/tools/txtar"
)

// kubeTypes runs kube types, and returns what it prints and says.
func kubeTypes(t *testing.T, args ...string) (out, log string, err error) {
	t.Helper()
	var outBuffer, logBuffer bytes.Buffer
	err = run(t.Context(), append([]string{"types"}, args...), &outBuffer, &logBuffer)
	return outBuffer.String(), logBuffer.String(), err
}

func TestTypesSources(t *testing.T) {
	file := crdFile(t)
	list := filepath.Join(t.TempDir(), "list.yaml")
	item := strings.ReplaceAll(colorsYAML[strings.Index(colorsYAML, "---\n")+4:], "\n", "\n  ")
	writeText(t, list, "apiVersion: v1\nkind: List\nitems:\n- "+item)
	other := filepath.Join(filepath.Dir(file), "templates", "broken.yaml")
	writeText(t, other, "{{ .Values }}")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(file))))
	defer server.Close()
	for name, args := range map[string][]string{
		"file":    {"-f", file},
		"list":    {"-f", list},
		"folder":  {"-f", filepath.Dir(file)},
		"address": {"-f", server.URL + "/colors.yaml"},
		"chosen":  {"Color", "-f", file},
		"short":   {"-f", file, "co"},
		"version": {"-f", file, "-version", "v1", "-package", "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			out, log, err := kubeTypes(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"package v1\n", "var Colors = resource.DefineNamespaced[Color](", "func ColorCRD() ("} {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s", want, out)
				}
			}
			if !strings.Contains(log, "colors.example.com v1: 2 types in color.go\n") {
				t.Errorf("it says\n%s", log)
			}
		})
	}
}

func writeText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTypesOfCluster(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	client, stop := startDev(t, newLines(), "-kubeconfig", kubeconfig)
	defer stop()
	defs, err := loadDefinitions(t.Context(), crdFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.All(apiextensions.CustomResourceDefinitions).Create(t.Context(), defs[0].definition, nil); err != nil {
		t.Fatal(err)
	}
	want, _, err := kubeTypes(t, "-f", crdFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-all"}, {"colors.example.com"}, {"colors"}, {"color"}} {
		got, _, err := kubeTypes(t, append([]string{"-kubeconfig", kubeconfig}, args...)...)
		if err != nil || got != want {
			t.Errorf("%q: %v\n%s", args, err, got)
		}
	}
	_, _, err = kubeTypes(t, "-kubeconfig", kubeconfig, "-context", "elsewhere", "-all")
	if err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("a context that is not there: %v", err)
	}
}

func TestTypesCheck(t *testing.T) {
	folder, file := filepath.Join(t.TempDir(), "api"), crdFile(t)
	if _, _, err := kubeTypes(t, "-f", file, "-o", folder); err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		out, _, err := kubeTypes(t, "-f", file, "-o", folder, "-check")
		if want == "" && (err != nil || out != "") || want != "" && (err == nil || !strings.Contains(out, want)) {
			t.Errorf("the check says %q (%v), and should say %q", out, err, want)
		}
	}
	check("")
	name := filepath.Join(folder, "color.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, name, strings.Replace(string(text), "type Color ", "type Colour ", 1))
	check("color.go: line ")
	writeText(t, filepath.Join(folder, "shade.go"), string(text))
	check("shade.go is of a definition that is not there any more: remove it")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	check("color.go is missing")
	patch := filepath.Join(folder, "doc.patch.json")
	writeText(t, patch, "{}") // of what needs none now
	if _, _, err := kubeTypes(t, "-f", file, "-o", folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(patch); err == nil {
		t.Error("the patch is still there")
	}
}

func TestTypesKeepsOtherFiles(t *testing.T) {
	folder := t.TempDir()
	mine := filepath.Join(folder, "color.go")
	writeText(t, mine, "package v1\n")
	_, _, err := kubeTypes(t, "-f", crdFile(t), "-o", folder)
	if err == nil || !strings.Contains(err.Error(), "was not written by kube types, and is not replaced") {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "package v1\n" {
		t.Errorf("the file has become %q (%v)", text, err)
	}
}

func TestTypesFails(t *testing.T) {
	file := crdFile(t)
	for name, c := range map[string]struct {
		args []string
		want string // in the error, or else in what it says
	}{
		"nothing to read":    {nil, "say what to read"},
		"file and cluster":   {[]string{"-f", file, "-context", "a"}, "-f is read in its place"},
		"check without -o":   {[]string{"-f", file, "-check"}, "-check needs the folder to check"},
		"all of a file":      {[]string{"-f", file, "-all"}, "-all is for a cluster"},
		"no such flag":       {[]string{"-g"}, "flag provided but not defined: -g"},
		"no such file":       {[]string{"-f", "absent.yaml"}, "absent.yaml"},
		"no definition":      {[]string{"-f", crdFile(t, "CustomResourceDefinition", "Else")}, "there is no CustomResourceDefinition in it"},
		"not YAML":           {[]string{"-f", crdFile(t, "scope:", "{scope")}, "document 2: "},
		"old version":        {[]string{"-f", crdFile(t, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")}, `the definition "colors.example.com": its version is "apiextensions.k8s.io/v1beta1": only apiextensions.k8s.io/v1 is read`},
		"unknown field":      {[]string{"-f", crdFile(t, "scope:", "scopes:")}, `unknown field "scopes"`},
		"empty folder":       {[]string{"-f", t.TempDir()}, "there is no CustomResourceDefinition in its .yaml, .yml and .json files"},
		"no such name":       {[]string{"-f", file, "shades"}, `there is no definition "shades" among colors.example.com`},
		"name misspelt":      {[]string{"-f", file, "colours"}, `did you mean "colors"?`},
		"twice":              {[]string{"-f", file, "-f", file}, "colors.example.com is there twice"},
		"no such version":    {[]string{"-f", file, "-version", "v2"}, `colors.example.com has no version "v2", but v1`},
		"package name":       {[]string{"-f", file, "-package", "my-api"}, `"my-api" cannot be the name of a package`},
		"kind without case":  {[]string{"-f", crdFile(t, "kind: Color,", "kind: color,")}, `the kind "color" cannot name a Go type`},
		"one name, two kept": {[]string{"-f", file, "-f", crdFile(t, "example.com", "example.org"), "-package", "colors"}, `one package "colors" cannot hold example.com/v1 and example.org/v1`},
		"ambiguous":          {[]string{"-f", file, "-f", crdFile(t, "example.com", "example.org"), "colors"}, `"colors" may be any of colors.example.com, colors.example.org`},
	} {
		t.Run(name, func(t *testing.T) {
			out, log, err := kubeTypes(t, c.args...)
			said := log
			if err != nil && !errors.Is(err, errUsage) {
				said = err.Error()
			}
			if err == nil || out != "" || !strings.Contains(said, c.want) {
				t.Errorf("the error is %v, it says %q and prints %q; want %q", err, log, out, c.want)
			}
		})
	}
}

func TestTypesRefusesAnswers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, _, err := kubeTypes(t, "-f", server.URL)
	if err == nil || !strings.Contains(err.Error(), "the server answers 404 Not Found") {
		t.Errorf("the error is %v", err)
	}
}

// TestTypesFolders has two groups that begin alike, which get a folder of their own each.
func TestTypesFolders(t *testing.T) {
	out, _, err := kubeTypes(t, "-f", crdFile(t, "example.com", "a.example.com"), "-f", crdFile(t, "example.com", "a.example.org"), "-f", crdFile(t, "example.com", "b.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range txtar.Parse([]byte(out)).Files {
		if filepath.Base(f.Name) == "color.go" {
			names = append(names, f.Name)
		}
	}
	if got, want := strings.Join(names, " "), "a.example.com/v1/color.go a.example.org/v1/color.go b/v1/color.go"; got != want {
		t.Errorf("the files are %s, want %s", got, want)
	}
}
