package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-kube/kube/cmd/kube/internal/gotypes"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func typesCommand(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("kube types", flag.ContinueOnError)
	flags.SetOutput(log)
	dir := flags.String("out", "", "")
	pkg := flags.String("package", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return errUsage
	}
	var defs []*apiextensionsv1.CustomResourceDefinition
	for _, f := range flags.Args() {
		d, err := readDefinitions(f)
		if err != nil {
			return err
		}
		defs = append(defs, d...)
	}
	res, err := gotypes.Generate(defs, &gotypes.Options{Package: *pkg})
	if err != nil {
		return err
	}
	for _, f := range res.Files {
		if *dir == "" {
			fmt.Fprintf(out, "-- %s --\n%s", f.Name, f.Text)
			continue
		}
		name := filepath.Join(*dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Text, 0o666); err != nil {
			return err
		}
	}
	for _, k := range res.Kinds {
		fmt.Fprintln(log, k.Name, k.Version, k.Types, k.Remains, k.Notes)
	}
	return nil
}
