package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	yamljson "sigs.k8s.io/yaml"
)

const crdUsage = `Usage: kube crd [flags] PACKAGE...
       kube crd check FILE...
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

check judges the CustomResourceDefinitions in YAML files as the API server would, rules and what
they cost included. diff tells what changed between two files with the same definitions. Both end
with status 1 where something is wrong: check, where the server would refuse a definition; diff,
where a change may break what was right before. The file - is standard input.

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
	switch {
	case len(rest) >= 2 && rest[0] == "check" && flags.NFlag() == 0:
		return checkFiles(ctx, rest[1:], out)
	case len(rest) == 3 && rest[0] == "diff" && flags.NFlag() == 0:
		return diffFiles(rest[1], rest[2], out)
	case len(rest) > 0 && strings.ContainsAny(rest[0], "./"): // no package with kinds has neither
		return w.write(ctx, rest)
	}
	flags.Usage()
	return errUsage
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

// checkFiles says of each definition whether the API server takes it.
func checkFiles(ctx context.Context, files []string, out io.Writer) error {
	refused := 0
	for _, file := range files {
		defs, err := readDefinitions(file)
		if err != nil {
			return err
		}
		for _, def := range defs {
			if err := cel.Check(ctx, def); err != nil {
				fmt.Fprintf(out, "%s: %s: refused: %v\n", file, def.Name, err)
				refused++
				continue
			}
			fmt.Fprintf(out, "%s: %s: ok\n", file, def.Name)
		}
	}
	if refused > 0 {
		return fmt.Errorf("the API server would refuse %d of the definitions", refused)
	}
	return nil
}

// diffFiles compares the definitions of two files by their names.
func diffFiles(oldFile, newFile string, out io.Writer) error {
	before, err := readDefinitions(oldFile)
	if err != nil {
		return err
	}
	after, err := readDefinitions(newFile)
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
	for _, old := range before {
		def := definitionNamed(after, old.Name)
		if def == nil {
			report(old.Name, crd.Change{Text: "definition removed", Breaking: true})
			continue
		}
		for _, c := range crd.Compare(old, def) {
			report(old.Name, c)
		}
	}
	for _, def := range after {
		if definitionNamed(before, def.Name) == nil {
			report(def.Name, crd.Change{Text: "definition added"})
		}
	}
	if breaking > 0 {
		return fmt.Errorf("%d of the changes may break what was right before", breaking)
	}
	return nil
}

func definitionNamed(defs []*apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinition {
	for _, def := range defs {
		if def.Name == name {
			return def
		}
	}
	return nil
}

// readDefinitions reads the definitions of a YAML file; other objects in it are passed over.
func readDefinitions(file string) (defs []*apiextensionsv1.CustomResourceDefinition, err error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		def := &apiextensionsv1.CustomResourceDefinition{}
		if err := yamljson.Unmarshal(document, &def.TypeMeta); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if def.Kind != "CustomResourceDefinition" {
			continue
		}
		if err := yamljson.UnmarshalStrict(document, def); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		defs = append(defs, def)
	}
	if len(defs) == 0 {
		return nil, fmt.Errorf("%s: there is no CustomResourceDefinition in it", file)
	}
	return defs, nil
}

func readFile(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}
