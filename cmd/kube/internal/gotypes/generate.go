package gotypes

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Options is what [Generate] may be told.
type Options struct {
	// Package is the name of the package, for definitions of one group and version. Left empty, it is
	// the version.
	Package string
	// Version leaves out all other versions. Left empty, there is a package for each.
	Version string
}

// File is a file to be written.
type File struct {
	// Name is its path with slashes, below the folder of the output.
	Name string
	Text []byte
}

// Result is what was made of definitions.
type Result struct {
	// Files are sorted by name.
	Files []File
	// Kinds are the kinds in them, by file.
	Kinds []Kind
}

// Kind is one version of a kind that was written.
type Kind struct {
	// Name is the name of the definition, and Version which one of its versions it is.
	Name, Version string
	// File is the Go file, and Func the function in it that returns the definition.
	File, Package, Func string
	// Types is how many types there are.
	Types int
	// Remains is what neither types nor tags say, and a patch beside them does.
	Remains []Remainder
	// Notes tell what was left out.
	Notes []string
}

// generator knows the types of Kubernetes.
type generator struct{ known }

// Generate writes Go types for definitions: a folder for each group, where there are several, and
// below it one for each version, where there are several of those.
func Generate(defs []*apiextensionsv1.CustomResourceDefinition, opts *Options) (*Result, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	packages, err := group(defs, o)
	if err != nil {
		return nil, err
	}
	types, err := knownTypes()
	if err != nil {
		return nil, err
	}
	g := &generator{types}
	result := &Result{}
	var errs []error
	for _, p := range packages {
		if err := g.writePackage(result, p); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(result.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return result, nil
}

// goPackage is a package to be written.
type goPackage struct {
	folder, name string
	group        string
	version      string
	kinds        []*kindVersion
}

// group sorts the versions of definitions into packages.
func group(defs []*apiextensionsv1.CustomResourceDefinition, o Options) (list []*goPackage, err error) {
	if len(defs) == 0 {
		return nil, errors.New("there are no definitions")
	}
	byName := map[string]*goPackage{}
	seen := map[string]bool{}
	for _, def := range defs {
		if seen[def.Name] {
			return nil, fmt.Errorf("%s is there twice", def.Name)
		}
		seen[def.Name] = true
		if err := checkDefinition(def, o.Version); err != nil {
			return nil, err
		}
		for i := range def.Spec.Versions {
			v := &def.Spec.Versions[i]
			if o.Version != "" && v.Name != o.Version {
				continue
			}
			key := def.Spec.Group + "/" + v.Name
			if byName[key] == nil {
				byName[key] = &goPackage{group: def.Spec.Group, version: v.Name}
				list = append(list, byName[key])
			}
			byName[key].kinds = append(byName[key].kinds, &kindVersion{def: def, version: v, info: infoOf(def, v.Name)})
		}
	}
	slices.SortFunc(list, func(a, b *goPackage) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.version, b.version))
	})
	return list, nameFolders(list, o)
}

// checkDefinition refuses what is no definition that a server has taken.
func checkDefinition(def *apiextensionsv1.CustomResourceDefinition, version string) error {
	names := def.Spec.Names
	switch {
	case def.Name == "" || def.Spec.Group == "" || names.Kind == "" || names.Plural == "":
		return fmt.Errorf("the definition %q has no name, group, kind or plural; is it complete?", def.Name)
	case len(def.Spec.Versions) == 0:
		return fmt.Errorf("%s has no versions", def.Name)
	case !token.IsIdentifier(names.Kind) || !token.IsExported(names.Kind):
		return fmt.Errorf("%s: the kind %q cannot name a Go type", def.Name, names.Kind)
	}
	has := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version }
	if version != "" && !slices.ContainsFunc(def.Spec.Versions, has) {
		var known []string
		for _, v := range def.Spec.Versions {
			known = append(known, v.Name)
		}
		return fmt.Errorf("%s has no version %q, but %s", def.Name, version, strings.Join(known, ", "))
	}
	for _, v := range def.Spec.Versions {
		if err := (resource.Info{Group: def.Spec.Group, Version: v.Name, Kind: names.Kind, Plural: names.Plural}).Validate(); err != nil {
			return fmt.Errorf("%s: %w", def.Name, err)
		}
	}
	return nil
}

// infoOf describes a kind, without what follows from its name.
func infoOf(def *apiextensionsv1.CustomResourceDefinition, version string) resource.Info {
	names := def.Spec.Names
	info := resource.Info{
		Group: def.Spec.Group, Version: version, Kind: names.Kind,
		ShortNames: names.ShortNames, Categories: names.Categories,
	}
	if resource.Pluralize(names.Kind) != names.Plural {
		info.Plural = names.Plural
	}
	if names.Singular != "" && names.Singular != strings.ToLower(names.Kind) {
		info.Singular = names.Singular
	}
	return info
}

// nameFolders decides where packages are, and what they are called.
func nameFolders(list []*goPackage, o Options) error {
	groups := map[string]bool{}
	firsts := map[string]map[string]bool{}
	for _, p := range list {
		groups[p.group] = true
		first, _, _ := strings.Cut(p.group, ".")
		if firsts[first] == nil {
			firsts[first] = map[string]bool{}
		}
		firsts[first][p.group] = true
	}
	if o.Package != "" && (len(list) > 1 || !isPackageName(o.Package)) {
		if len(list) > 1 {
			return fmt.Errorf("one package %q cannot hold %s/%s and %s/%s; choose a version, or leave the name to the versions", o.Package, list[0].group, list[0].version, list[1].group, list[1].version)
		}
		return fmt.Errorf("%q cannot be the name of a package: it has to be an identifier in lower case", o.Package)
	}
	for _, p := range list {
		p.name = cmp.Or(o.Package, p.version)
		if !isPackageName(p.name) {
			return fmt.Errorf("the version %q of %s cannot be the name of a package; choose one", p.version, p.group)
		}
		if len(list) > 1 {
			p.folder = p.version
		}
		if len(groups) > 1 {
			first, _, _ := strings.Cut(p.group, ".")
			if len(firsts[first]) > 1 {
				first = p.group // two groups begin alike
			}
			p.folder = path.Join(first, p.version)
		}
	}
	return nil
}

// writePackage adds the files of a package to the result.
func (g *generator) writePackage(result *Result, p *goPackage) error {
	slices.SortFunc(p.kinds, func(a, b *kindVersion) int { return cmp.Compare(a.def.Name, b.def.Name) })
	names := namespace{}
	for _, v := range p.kinds {
		if names[v.info.Kind] {
			return fmt.Errorf("%s/%s has two kinds %s", p.group, p.version, v.info.Kind)
		}
		names[v.info.Kind] = true
	}
	files := namespace{"doc": true}
	for _, v := range p.kinds {
		v.kinds = names.take(kindsName(v.info.Kind, v.def.Spec.Names.Plural), v.info.Kind+"Kind")
		names[v.funcName()] = true
		v.file = files.take(strings.ToLower(v.info.Kind))
	}
	for _, v := range p.kinds {
		if err := g.build(v, names); err != nil {
			return err
		}
		text, err := v.write(p.name)
		if err != nil {
			return fmt.Errorf("%s, version %s: %w", v.def.Name, p.version, err)
		}
		file := path.Join(p.folder, v.file+".go")
		result.Files = append(result.Files, File{file, text})
		if v.patch != nil {
			result.Files = append(result.Files, File{path.Join(p.folder, v.file+".patch.json"), v.patch})
		}
		result.Kinds = append(result.Kinds, Kind{
			Name: v.def.Name, Version: p.version, File: file, Package: p.name, Func: v.funcName(), Types: len(v.decls),
			Remains: v.remains, Notes: v.notes(),
		})
	}
	result.Files = append(result.Files, File{path.Join(p.folder, "doc.go"), p.doc()})
	return nil
}

func (v *kindVersion) funcName() string { return v.info.Kind + "CRD" }

// notes tells what is not in the types.
func (v *kindVersion) notes() (list []string) {
	if c := v.def.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		list = append(list, "the conversion webhook belongs to the cluster that serves it: give it to crd.For as Options.Conversion")
	}
	return list
}
