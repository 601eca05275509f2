// Command gen writes the descriptors of the built-in kinds, below k8s/, from Kubernetes' own
// discovery documents.
//
// The documents are those of the k8s.io/kubernetes release that belongs to the k8s.io/api
// version which the module requires: its folder api/discovery holds what an API server with
// every API enabled answers. The module is downloaded by the go command and never compiled.
// Go types are looked up by group, version and kind in the sources of k8s.io/api and
// k8s.io/apiextensions-apiserver; a kind without a type is an error.
//
// The output depends on these inputs alone. Files called zz_generated.go that are no longer
// written are removed.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	src, err := locate()
	if err != nil {
		return err
	}
	groups, err := readDiscovery(src.discovery())
	if err != nil {
		return err
	}
	types, err := indexTypes(src.typeFolders)
	if err != nil {
		return err
	}
	packages, err := plan(groups, types)
	if err != nil {
		return err
	}
	files, err := render(packages, src.release)
	if err != nil {
		return err
	}
	testdata, err := copyTestdata(src)
	if err != nil {
		return err
	}
	return write(src.root, append(files, testdata...))
}
