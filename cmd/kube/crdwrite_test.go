package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goCommand has the go command work as for anybody: the module that does not require this one
// has no checksums of what this one needs, which are in the cache.
func goCommand(t *testing.T) {
	t.Helper()
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOWORK", "off")
}

func runCRD(t *testing.T, args ...string) (out, log string, err error) {
	t.Helper()
	var o, l bytes.Buffer
	err = run(context.Background(), append([]string{"crd"}, args...), &o, &l)
	return o.String(), l.String(), err
}

func goldenFile(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestCRDOfDescriptors derives kinds with descriptors, one of which has a function.
func TestCRDOfDescriptors(t *testing.T) {
	goCommand(t)
	out, log, err := runCRD(t, "-C", "testdata/kinds", "./api/...")
	if err != nil || log != "" {
		t.Fatal(err, log)
	}
	goldenFile(t, "kinds.yaml", out)
}

// TestCRDOfMarkers derives kinds from a module that knows nothing of this one.
func TestCRDOfMarkers(t *testing.T) {
	goCommand(t)
	kube, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out, log, err := runCRD(t, "-C", "testdata/marked", "./...", "-kube", kube)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"does not require github.com/go-kube/kube",
		`kube: LampSpec.Tone: +kubebuilder:validation:MaxLenght=9: this is no marker of controller-gen, and has no effect; did you mean "MaxLength"?` + "\n",
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("told %q, and should tell %q once", log, want)
		}
	}
	goldenFile(t, "marked.yaml", out)

	_, _, err = runCRD(t, "-C", "testdata/marked", "./...", "-kube", "")
	if err == nil || !strings.Contains(err.Error(), "say which one by -kube VERSION") {
		t.Errorf("got %v", err)
	}
}

func TestCRDFiles(t *testing.T) {
	goCommand(t)
	dir := t.TempDir()
	brushes, colors := filepath.Join(dir, "example.com_brushes.yaml"), filepath.Join(dir, "example.com_colors.yaml")
	check := func() (string, error) {
		out, _, err := runCRD(t, "-C", "testdata/kinds", "-o", dir, "-check", "./api/...")
		return strings.ReplaceAll(out, dir+string(filepath.Separator), ""), err
	}
	if out, err := check(); err == nil || out != "example.com_brushes.yaml: missing\nexample.com_colors.yaml: missing\n" {
		t.Errorf("printed %s, %v", out, err)
	}
	if out, _, err := runCRD(t, "-C", "testdata/kinds", "-o", dir, "./api/..."); err != nil || out != "" {
		t.Fatal(out, err)
	}
	if out, err := check(); err != nil || out != "" {
		t.Errorf("what was written is not what is checked for: %s, %v", out, err)
	}
	text, err := os.ReadFile(colors)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		colors:                                   strings.Replace(string(text), "maximum: 359", "maximum: 360", 1),
		brushes:                                  string(text),
		filepath.Join(dir, "example.com_x.yaml"): string(text),
		filepath.Join(dir, "other.com_x.yaml"):   string(text),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := check()
	want := "example.com_brushes.yaml: line 4 differs from what would be written\n" +
		"example.com_colors.yaml: line 31 differs from what would be written\n" +
		"example.com_x.yaml: no kind makes it: remove it\n"
	if diff := cmp.Diff(want, out); diff != "" || err == nil || !strings.Contains(err.Error(), "3 of the files are not up to date") {
		t.Errorf("-want +got:\n%s\n%v", diff, err)
	}
}

// TestCRDErrors has everything that is wrong in several packages reported at once.
func TestCRDErrors(t *testing.T) {
	goCommand(t)
	out, _, err := runCRD(t, "-C", "testdata/kinds", "./internal/...", "./versions/...", "./twice", "./panics")
	for _, want := range []string{
		`example.com/kinds/internal/api/v1beta1.Bads: crd: bads.v1beta1.example.com:` + "\n" + `BadSpec.Text: "maxLenght" is not a word of a schema tag; did you mean "maxLength"?`,
		"pens.example.com: there are the versions v1, v2, and none of them is marked as stored",
		"brushes.example.com: example.com/kinds/twice.First and example.com/kinds/twice.All return different definitions of it",
		"example.com/kinds/panics.Definition: panic: out of order",
		"example.com/kinds/panics.Definitions: returned nil for a definition",
	} {
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("got %v and %s, want %s", err, out, want)
		}
	}
}

// TestCRDSize drops the descriptions for which there is no room.
func TestCRDSize(t *testing.T) {
	goCommand(t)
	out, _, err := runCRD(t, "-C", "testdata/kinds", "-max-size", "700", "./api/...")
	if err != nil || strings.Contains(out, "Hue is the angle.") || !strings.Contains(out, "description: Color is a color.") {
		t.Errorf("printed %s, %v", out, err)
	}
	_, _, err = runCRD(t, "-C", "testdata/kinds", "-max-size", "100", "./api/...")
	if err == nil || !strings.Contains(err.Error(), "bytes without any description, and may have 100") {
		t.Errorf("got %v", err)
	}
}

// TestCRDOfFunction has a function answer for a descriptor that cannot be derived as it is.
func TestCRDOfFunction(t *testing.T) {
	goCommand(t)
	out, _, err := runCRD(t, "-C", "testdata/kinds", "./given")
	if err != nil || !strings.Contains(out, "name: trees.example.com\n") || strings.Count(out, "kind: CustomResourceDefinition") != 1 {
		t.Errorf("printed %s, %v", out, err)
	}
	_, _, err = runCRD(t, "-C", "testdata/kinds", "./told")
	if err == nil || !strings.Contains(err.Error(), "told.InkCRD: crd: inks.v1.example.com:") || strings.Count(err.Error(), "Spec.Text") != 1 {
		t.Errorf("the error is told more than once, or not: %v", err)
	}
}

func TestCRDOfPackagesFails(t *testing.T) {
	goCommand(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no kinds":        {[]string{"./empty"}, "no kinds are declared there"},
		"no package":      {[]string{"./absent"}, "directory not found"},
		"refused":         {[]string{"./rules"}, "type 'string' does not support field selection"},
		"does not build":  {[]string{"./broken"}, "undefined: missing"},
		"check alone":     {[]string{"./api/...", "-check"}, "give it by -o"},
		"flag of another": {[]string{"-check", "check", "file.yaml"}, errUsage.Error()},
		"no pattern":      {[]string{"api"}, errUsage.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := runCRD(t, append([]string{"-C", "testdata/kinds"}, test.args...)...)
			if err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
				t.Errorf("got %v and %s, want %s", err, out, test.want)
			}
		})
	}
}
