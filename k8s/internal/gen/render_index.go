package main

import (
	"bytes"
	"cmp"
	"fmt"
)

// indexSource writes the part of package k8s that depends on the release: which it is, and
// the table of the packages below.
func indexSource(packages []*pkg, release string) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteString("// Package k8s covers these groups and versions:\n//\n")
	for _, p := range packages {
		fmt.Fprintf(&b, "//   - k8s/%s: %s %s\n", p.folder, cmp.Or(p.group, "the core group"), p.version)
	}
	b.WriteString("package k8s\n\n")
	b.WriteString("// Version is the Kubernetes release whose discovery documents the descriptors were\n// written from.\n")
	fmt.Fprintf(&b, "const Version = %q\n", release)
	return b.Bytes()
}
