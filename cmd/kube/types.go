package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-kube/kube/cmd/kube/internal/gotypes"
)

const typesUsage = `Usage: kube types -f SOURCE [flags] [NAME...]
       kube types [flags] NAME...

Writes Go types for custom resource definitions, with descriptors of the kinds and functions that derive
the definitions from the types again. Without -f the definitions are read from a cluster. NAMEs choose
some of them, by name (gateways.gateway.networking.k8s.io), plural, kind or short name.

  -f SOURCE          a YAML or JSON file, a folder with such files, an address (https://…), or - for
                     standard input; may be given more than once
  -context NAME      the context of the kubeconfig whose cluster is read, if not the current one
  -kubeconfig FILE   the kubeconfig, if not that of KUBECONFIG or ~/.kube/config
  -all               all definitions of the cluster
  -version NAME      this version only; there is a package for each otherwise
  -package NAME      the name of the package, if not that of the version
  -o FOLDER          where the files go; without it they are printed, as a txtar archive where there
                     are several
  -check             write nothing, and end with status 1 where FOLDER is not what would be written, and
                     with 2 where that cannot be told

What types and tags cannot say is written to a patch beside the types, so that deriving gives the
definition back; which parts those are is reported.
`

// typesFlags are the flags of kube types.
type typesFlags struct {
	sources                  []string
	context, kubeconfig, out string
	all, check               bool
	options                  gotypes.Options
	names                    []string
}

func parseTypesFlags(args []string, log io.Writer) (*typesFlags, error) {
	f := &typesFlags{}
	flags := flag.NewFlagSet("kube types", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() { fmt.Fprint(log, typesUsage) }
	flags.Func("f", "", func(source string) error { f.sources = append(f.sources, source); return nil })
	flags.StringVar(&f.context, "context", "", "")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	flags.StringVar(&f.out, "o", "", "")
	flags.BoolVar(&f.all, "all", false, "")
	flags.BoolVar(&f.check, "check", false, "")
	flags.StringVar(&f.options.Package, "package", "", "")
	flags.StringVar(&f.options.Version, "version", "", "")
	var err error
	switch f.names, err = parseAnywhere(flags, args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, errUsage
	}
	fault := ""
	switch {
	case len(f.sources) == 0 && len(f.names) == 0 && !f.all:
		fault = "say what to read: -f SOURCE, or names of definitions in the cluster, or -all of them"
	case len(f.sources) > 0 && (f.context != "" || f.kubeconfig != ""):
		fault = "-context and -kubeconfig are about a cluster, and -f is read in its place"
	case f.all && (len(f.sources) > 0 || len(f.names) > 0):
		fault = "-all is for a cluster, without names"
	case f.check && f.out == "":
		fault = "-check needs the folder to check: -o FOLDER"
	}
	if fault != "" {
		fmt.Fprintf(log, "kube types: %s\n\n%s", fault, typesUsage)
		return nil, errUsage
	}
	return f, nil
}

// typesCommand writes Go types for definitions.
func typesCommand(ctx context.Context, args []string, out, log io.Writer) error {
	f, err := parseTypesFlags(args, log)
	if err != nil {
		return err
	}
	if f.check {
		return judged(f.run(ctx, out, log))
	}
	return f.run(ctx, out, log)
}

func (f *typesFlags) run(ctx context.Context, out, log io.Writer) error {
	defs, err := f.definitions(ctx)
	if err != nil {
		return err
	}
	result, err := gotypes.Generate(defs, &f.options)
	if err != nil {
		return err
	}
	switch {
	case f.check:
		return checkGenerated(result, f.out, out)
	case f.out == "":
		printFiles(result.Files, out)
	default:
		if err := writeTypes(result.Files, f.out); err != nil {
			return err
		}
	}
	report(result, log)
	return nil
}

func (f *typesFlags) definitions(ctx context.Context) (defs []*definition, err error) {
	if len(f.sources) == 0 {
		defs, err = readCluster(ctx, f.kubeconfig, f.context)
	}
	for _, source := range f.sources {
		found, sourceErr := loadDefinitions(ctx, source)
		if sourceErr != nil {
			return nil, sourceErr
		}
		for _, def := range found {
			defs = append(defs, def.definition)
		}
	}
	if err != nil {
		return nil, err
	}
	return selectDefinitions(defs, f.names)
}

// report says what was written, and what types and tags do not say.
func report(result *gotypes.Result, log io.Writer) {
	for _, k := range result.Kinds {
		fmt.Fprintf(log, "%s %s: %d types in %s\n", k.Name, k.Version, k.Types, k.File)
		for _, r := range k.Remains {
			fmt.Fprintf(log, "  by a patch: %s\n", r)
		}
		for _, n := range k.Notes {
			fmt.Fprintf(log, "  %s\n", n)
		}
	}
}

// printFiles prints one file as it is, and several as a txtar archive.
func printFiles(files []gotypes.File, out io.Writer) {
	for _, f := range files {
		fmt.Fprintf(out, "-- %s --\n%s", f.Name, f.Text)
	}
}

// generatedBy begins every Go file that kube types writes.
var generatedBy = []byte("// Code generated by kube types")

// writeTypes writes files below a folder, and replaces no others than those written before.
func writeTypes(files []gotypes.File, folder string) error {
	for _, f := range files {
		name := filepath.Join(folder, filepath.FromSlash(f.Name))
		if old, err := os.ReadFile(name); err == nil && filepath.Ext(name) == ".go" && !bytes.HasPrefix(old, generatedBy) {
			return fmt.Errorf("%s was not written by kube types, and is not replaced; choose another folder", name)
		}
	}
	for _, f := range files {
		name := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Text, 0o666); err != nil {
			return err
		}
	}
	return removePatches(files, folder)
}

// removePatches removes patches of kinds that need none any more.
func removePatches(files []gotypes.File, folder string) error {
	for _, f := range files {
		patch := strings.TrimSuffix(f.Name, ".go") + ".patch.json"
		isPatch := func(other gotypes.File) bool { return other.Name == patch }
		if filepath.Ext(f.Name) != ".go" || slices.ContainsFunc(files, isPatch) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, filepath.FromSlash(patch))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkGenerated compares a folder with what would be written.
func checkGenerated(result *gotypes.Result, folder string, out io.Writer) error {
	faults := 0
	tell := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...)
		faults++
	}
	wanted := map[string]bool{}
	for _, f := range result.Files {
		name := filepath.Join(folder, filepath.FromSlash(f.Name))
		wanted[name] = true
		switch old, err := os.ReadFile(name); {
		case errors.Is(err, fs.ErrNotExist):
			tell("%s is missing", name)
		case err != nil:
			return err
		case !bytes.Equal(old, f.Text):
			tell("%s: line %d differs from what would be written", name, firstDifference(old, f.Text))
		}
	}
	left, err := leftOver(result.Files, folder, wanted)
	if err != nil {
		return err
	}
	for _, name := range left {
		tell("%s is of a definition that is not there any more: remove it", name)
	}
	if faults > 0 {
		return findings("%d of the files in %s are not what kube types would write: run it without -check", faults, folder)
	}
	return nil
}

// leftOver finds files that kube types wrote into the same folders, and would not write now.
func leftOver(files []gotypes.File, folder string, wanted map[string]bool) (left []string, err error) {
	var folders []string
	for _, f := range files {
		folders = append(folders, filepath.Join(folder, filepath.Dir(filepath.FromSlash(f.Name))))
	}
	slices.Sort(folders)
	for _, dir := range slices.Compact(folders) {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			if !wanted[name] && bytes.HasPrefix(text, generatedBy) {
				left = append(left, name)
			}
		}
	}
	return left, nil
}
