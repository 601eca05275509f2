package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// allSource lists every descriptor of packages for package all.
func allSource(packages []*pkg) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	if slices.ContainsFunc(packages, (*pkg).hasDeprecated) {
		b.WriteString(ignoreDeprecated)
	}
	b.WriteString("package all\n\nimport (\n")
	for _, p := range packages {
		alias := p.alias()
		if alias == p.name {
			alias = "" // the package's own name will do
		}
		fmt.Fprintf(&b, "\t%s %q\n", alias, path.Join(module, "k8s", p.folder))
	}
	b.WriteString(")\n\nfunc kinds() []Kind {\n\treturn []Kind{\n")
	for _, p := range packages {
		for i, v := range p.vars {
			b.WriteString(p.entry(v))
			if i == len(p.vars)-1 || p.vars[i+1].sub == "" {
				b.WriteString("),\n")
			}
		}
	}
	b.WriteString("\t}\n}\n")
	return b.Bytes()
}

// alias names p where packages of several versions of a group are imported.
func (p *pkg) alias() string { return strings.ReplaceAll(p.folder, "/", "") }

// entry writes v as an argument; that of a kind stays open for its subresources.
func (p *pkg) entry(v variable) string {
	name := p.alias() + "." + v.name
	switch v.define {
	case "DefineSubresource", "BuiltinSubresource":
		return ", subresource(" + name + ")"
	case "DefineConnection":
		return ", connection(" + name + ")"
	}
	return "kind(" + name
}
