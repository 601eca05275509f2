package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/cmd/kube/internal/packagecrd"
	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
)

// crdWriter writes the definitions of packages.
type crdWriter struct {
	options  packagecrd.Options
	into     string
	maxSize  int
	check    bool
	out, log io.Writer
}

func (w *crdWriter) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&w.into, "o", "", "write a file `DIRECTORY`/GROUP_PLURAL.yaml for each definition instead of standard output")
	flags.BoolVar(&w.check, "check", false, "write nothing, and end with status 1 where the files of -o differ from what would be written, 2 where that cannot be told")
	flags.StringVar(&w.options.Dir, "C", "", "work in `DIRECTORY`")
	flags.IntVar(&w.options.MaxDescription, "max-description", 0, "shorten descriptions to so many `bytes`; 0 is no limit, -1 no descriptions")
	flags.IntVar(&w.maxSize, "max-size", 0, fmt.Sprintf("drop descriptions, the deepest first, of definitions with more `bytes` as JSON; 0 is no limit, kubectl apply without --server-side takes %d", crd.MaxApplySize))
	flags.BoolVar(&w.options.EmbeddedObjectMeta, "embedded-object-meta", false, "give metadata inside of a spec its fields, where markers count")
	flags.StringVar(&w.options.Kube, "kube", builtVersion(), "derive with this `version` of the kube module, or its directory, where the module does not require it")
}

// builtVersion is the version of the module that this command was built from, or nothing.
func builtVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/go-kube/kube" && m.Replace == nil && m.Version != "v0.0.0" {
			return m.Version
		}
	}
	return ""
}

// write writes or compares the definitions that the API server would take.
func (w *crdWriter) write(ctx context.Context, patterns []string) error {
	if w.check && w.into == "" {
		return errors.New("-check compares with the files of a directory: give it by -o")
	}
	w.options.Warn = func(format string, args ...any) { fmt.Fprintf(w.log, "kube: "+format+"\n", args...) }
	defs, err := packagecrd.Of(ctx, w.options, patterns...)
	if err != nil {
		return err
	}
	if w.maxSize != 0 {
		for _, def := range defs {
			if err := crd.Shrink(def, w.maxSize); err != nil {
				return fmt.Errorf("%s: %w", def.Name, err)
			}
		}
	}
	if err := w.judge(ctx, defs); err != nil {
		return err
	}
	if w.into == "" {
		text, err := crd.YAML(defs...)
		if err != nil {
			return err
		}
		_, err = w.out.Write(text)
		return err
	}
	into := w.into
	if !filepath.IsAbs(into) {
		into = filepath.Join(w.options.Dir, into)
	}
	if w.check {
		return w.compare(into, defs)
	}
	return writeFiles(into, defs)
}

// judge refuses what the API server would refuse.
func (w *crdWriter) judge(ctx context.Context, defs []*apiextensionsv1.CustomResourceDefinition) error {
	var errs []error
	for _, def := range defs {
		if err := cel.Check(ctx, def); err != nil {
			errs = append(errs, fmt.Errorf("%s: the API server would refuse it: %w", def.Name, err))
		}
		raw, err := json.Marshal(def) // what kubectl keeps in the annotation
		if err != nil {
			return err
		}
		if len(raw) > crd.MaxApplySize {
			w.options.Warn("%s: it has %d bytes as JSON, too many for kubectl apply without --server-side (see -max-size)", def.Name, len(raw))
		}
	}
	return errors.Join(errs...)
}

// fileName is that which controller-gen gives to a definition.
func fileName(def *apiextensionsv1.CustomResourceDefinition) string {
	return def.Spec.Group + "_" + def.Spec.Names.Plural + ".yaml"
}

func writeFiles(dir string, defs []*apiextensionsv1.CustomResourceDefinition) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, def := range defs {
		text, err := crd.YAML(def)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, fileName(def))
		if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, text) {
			continue // its time stays the same
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// compare says how the files of a directory differ from what would be written. A file that no
// kind makes any more is a difference, where its name is that of a group which is written.
func (w *crdWriter) compare(dir string, defs []*apiextensionsv1.CustomResourceDefinition) error {
	differ, known, groups := 0, map[string]bool{}, map[string]bool{}
	tell := func(file, format string, args ...any) {
		differ++
		fmt.Fprintf(w.out, "%s: %s\n", filepath.Join(dir, file), fmt.Sprintf(format, args...))
	}
	for _, def := range defs {
		name := fileName(def)
		known[name], groups[def.Spec.Group] = true, true
		text, err := crd.YAML(def)
		if err != nil {
			return err
		}
		switch have, err := os.ReadFile(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
			tell(name, "missing")
		case err != nil:
			return err
		case !bytes.Equal(have, text):
			tell(name, "line %d differs from what would be written", firstDifference(have, text))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		group, _, _ := strings.Cut(entry.Name(), "_")
		if groups[group] && !known[entry.Name()] && strings.HasSuffix(entry.Name(), ".yaml") {
			tell(entry.Name(), "no kind makes it: remove it")
		}
	}
	if differ > 0 {
		return findings("%d of the files are not up to date: run it without -check", differ)
	}
	return nil
}

// firstDifference is the number of the first line that differs.
func firstDifference(a, b []byte) int {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}
