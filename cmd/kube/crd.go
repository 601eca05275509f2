package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/internal/suggest"
)

const crdUsage = `Usage: kube crd [flags] PACKAGE...
       kube crd check SOURCE...
       kube crd diff OLD NEW

kube crd writes the CustomResourceDefinitions of the kinds that Go packages declare, as YAML. PACKAGE is
a pattern of the go command, as ./api/... is. A kind is declared by

  - a function without parameters that returns *apiextensionsv1.CustomResourceDefinition, or a slice of
    them, and perhaps an error. It counts alone where it returns the definition of a kind;
  - a variable that is set by resource.DefineNamespaced or resource.DefineCluster;
  - a type with metav1.TypeMeta and metav1.ObjectMeta in a package with a comment +groupName: what is
    written for controller-gen needs no change, and no requirement of this module.

Schemas follow from marker comments where a package has any, otherwise from doc comments and tags. The
packages are built and run. Definitions that the API server would refuse are errors.

check judges CustomResourceDefinitions as the API server would, rules and what they cost included.
diff tells what changed between two sets of them. Both end with status 1 where something is wrong:
check, where the server would refuse a definition; diff, where a change may break what was right
before. The status is 2 where they could not tell. SOURCE, OLD and NEW are a YAML or JSON file, a folder
with such files, an address (https://…), or - for standard input:

  kube crd ./api/... | kube crd diff config/crd -

Flags of kube crd PACKAGE:
`

// crdCommand writes, checks and compares definitions.
func crdCommand(ctx context.Context, args []string, out, log io.Writer) error {
	w := &crdWriter{out: out, log: log}
	flags := flag.NewFlagSet("kube crd", flag.ContinueOnError)
	flags.SetOutput(log)
	w.addFlags(flags)
	flags.Usage = func() {
		fmt.Fprint(log, crdUsage)
		flags.PrintDefaults()
	}
	rest, err := parseAnywhere(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return errUsage
	}
	switch fault := crdFault(rest, flags.NFlag() > 0); {
	case fault != "":
		fmt.Fprintf(log, "kube crd: %s\n\n", fault)
		flags.Usage()
		return errUsage
	case rest[0] == "check":
		return judged(checkDefinitions(ctx, rest[1:], out))
	case rest[0] == "diff":
		return judged(diffDefinitions(ctx, rest[1], rest[2], out))
	case w.check:
		return judged(w.write(ctx, rest))
	}
	return w.write(ctx, rest)
}

// crdFault says what is wrong with arguments, or nothing.
func crdFault(args []string, hasFlags bool) string {
	switch {
	case len(args) == 0:
		return "say which packages: as in kube crd ./api/..."
	case args[0] == "check" && len(args) == 1:
		return "check needs definitions to check: kube crd check SOURCE..."
	case args[0] == "diff" && len(args) != 3:
		return fmt.Sprintf("diff compares two sources, and there are %d: kube crd diff OLD NEW", len(args)-1)
	case (args[0] == "check" || args[0] == "diff") && hasFlags:
		return "the flags are for kube crd PACKAGE, and " + args[0] + " has none"
	case args[0] == "check" || args[0] == "diff":
		return ""
	case !strings.ContainsAny(args[0], "./"): // no package with kinds has neither
		return fmt.Sprintf("%q is neither a command nor a package, which is written as ./%[1]s%s", args[0], suggest.DidYouMean(args[0], []string{"check", "diff"}))
	}
	return ""
}

// parseAnywhere takes flags before, between and behind the arguments that it returns.
func parseAnywhere(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
}

// checkDefinitions says of each definition whether the API server takes it.
func checkDefinitions(ctx context.Context, sources []string, out io.Writer) error {
	refused := 0
	for _, source := range sources {
		defs, err := loadDefinitions(ctx, source)
		if err != nil {
			return err
		}
		for _, def := range defs {
			if err := cel.Check(ctx, def.definition); err != nil {
				fmt.Fprintf(out, "%s: %s: refused: %v\n", def.file, def.Name, err)
				refused++
				continue
			}
			fmt.Fprintf(out, "%s: %s: ok\n", def.file, def.Name)
		}
	}
	if refused > 0 {
		return findings("the API server would refuse %d of the definitions", refused)
	}
	return nil
}

// diffDefinitions compares the definitions of two sources by their names.
func diffDefinitions(ctx context.Context, oldSource, newSource string, out io.Writer) error {
	before, err := definitionsByName(ctx, oldSource)
	if err != nil {
		return err
	}
	after, err := definitionsByName(ctx, newSource)
	if err != nil {
		return err
	}
	breaking := 0
	report := func(name string, c crd.Change) {
		fmt.Fprintf(out, "%s: %s\n", name, c)
		if c.Breaking {
			breaking++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] == nil {
			report(name, crd.Change{Text: "definition removed", Breaking: true})
			continue
		}
		for _, c := range crd.Compare(before[name], after[name]) {
			report(name, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == nil {
			report(name, crd.Change{Text: "definition added"})
		}
	}
	if breaking > 0 {
		return findings("%d of the changes may break what was right before", breaking)
	}
	return nil
}

// definitionsByName reads the definitions of a source, each of which may be there once.
func definitionsByName(ctx context.Context, source string) (map[string]*definition, error) {
	defs, err := loadDefinitions(ctx, source)
	if err != nil {
		return nil, err
	}
	byName, files := map[string]*definition{}, map[string]string{}
	for _, def := range defs {
		if byName[def.Name] != nil {
			return nil, fmt.Errorf("%s is there twice: in %s and in %s", def.Name, files[def.Name], def.file)
		}
		byName[def.Name], files[def.Name] = def.definition, def.file
	}
	return byName, nil
}
