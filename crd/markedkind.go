package crd

import (
	"fmt"
	"go/ast"
	"io/fs"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/resource"
)

// MarkedKind is a version of a kind that a Go package declares by its marker comments, without
// a descriptor.
type MarkedKind struct {
	// Type is the name of the Go type in its package.
	Type string
	// Info and Scope are what a descriptor of the kind needs: the group of the package's marker
	// +groupName, the version of +versionName or of the package's name, and the names of
	// +kubebuilder:resource.
	Info  resource.Info
	Scope resource.Scope
	// Stored says that the type has the marker +kubebuilder:storageversion, Skipped that it has
	// +kubebuilder:skipversion: its definition is to be without this version.
	Stored, Skipped bool
}

// MarkedKinds returns the kinds of a Go package, sorted by their types: the structs with metav1.TypeMeta and
// metav1.ObjectMeta embedded, where the package has a marker +groupName and none +kubebuilder:skip.
// Those are the types for which controller-gen writes definitions.
//
// sources are as for [ReadMarkers]; one of them is the module of the package. A type
// that is declared by another one (type Route v1.Route) is found where its source is there too.
func MarkedKinds(importPath string, sources ...fs.FS) ([]MarkedKind, error) {
	s, err := newMarkerSource(sources)
	if err != nil {
		return nil, fmt.Errorf("crd: reading markers: %w", err)
	}
	pkg, err := s.packageAt(importPath)
	if err != nil {
		return nil, fmt.Errorf("crd: reading markers of %s: %w", importPath, err)
	}
	if pkg == nil {
		return nil, fmt.Errorf("crd: no source has the package %s: add the root of its module", importPath)
	}
	group, hasGroup := pkg.marker("groupName")
	if _, skipped := pkg.marker("kubebuilder:skip"); skipped || !hasGroup {
		return nil, nil
	}
	var kinds []MarkedKind
	for _, name := range keysOf(pkg.types) {
		is, err := s.isObject(pkg.types[name], nil)
		if err != nil {
			return nil, fmt.Errorf("crd: reading markers of %s: %w", importPath, err)
		}
		if !is || !ast.IsExported(name) {
			continue
		}
		kind, err := pkg.kind(name, group)
		if err != nil {
			return nil, fmt.Errorf("crd: %s.%s: %w", importPath, name, err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// marker returns the value of a marker about the package.
func (p *markedPackage) marker(want string) (value string, ok bool) {
	for _, text := range p.markers {
		if name, rest, _ := splitMarker(text); name == want {
			value, ok = strings.Trim(rest, "\"`"), true
		}
	}
	return value, ok
}

func (p *markedPackage) kind(typeName, group string) (MarkedKind, error) {
	version, ok := p.marker("versionName")
	if !ok {
		version = p.name
	}
	k := MarkedKind{Type: typeName, Info: resource.Info{Group: group, Version: version, Kind: typeName}}
	for _, text := range p.types[typeName].markers {
		name, rest, _ := splitMarker(text)
		switch {
		case name == "kubebuilder:storageversion":
			k.Stored = true
		case name == "kubebuilder:skipversion":
			k.Skipped = true
		case strings.HasPrefix(name, "kubebuilder:resource:"):
			if err := k.setNames(strings.TrimPrefix(name, "kubebuilder:resource:"), rest); err != nil {
				return k, fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	return k, k.Info.Validate()
}

// setNames reads the arguments of +kubebuilder:resource.
func (k *MarkedKind) setNames(first, rest string) error {
	i := slices.IndexFunc(kindMarkers, func(m kindMarker) bool { return m.name == "kubebuilder:resource" })
	args, err := readArgs(first, rest, kindMarkers[i].args)
	if err != nil {
		return err
	}
	k.Info.Plural, k.Info.Singular = textOf(args, "path"), textOf(args, "singular")
	k.Info.ShortNames, k.Info.Categories = textsOf(args, "shortName"), textsOf(args, "categories")
	switch scope := textOf(args, "scope"); apiextensionsv1.ResourceScope(scope) {
	case "", apiextensionsv1.NamespaceScoped:
	case apiextensionsv1.ClusterScoped:
		k.Scope = resource.ClusterScoped
	default:
		return fmt.Errorf("scope is Namespaced or Cluster, and not %q", scope)
	}
	return nil
}

// isObject reports whether a type is a struct with the metadata of an object embedded. seen
// are the types that led to it.
func (s *markerSource) isObject(t *markedType, seen []*markedType) (bool, error) {
	if t == nil || slices.Contains(seen, t) {
		return false, nil
	}
	structure, ok := t.expr.(*ast.StructType)
	if !ok {
		if t.isAlias {
			return false, nil // it is a kind where it is declared
		}
		next, err := s.declaredBy(t)
		if err != nil {
			return false, err
		}
		return s.isObject(next, append(seen, t))
	}
	found := map[string]bool{}
	for _, f := range structure.Fields.List {
		qualifier, name := typeNamed(f.Type)
		if len(f.Names) == 0 && qualifier != "" && importPathOf(t.file, qualifier) == metaPackage {
			found[name] = true
		}
	}
	return found["TypeMeta"] && found["ObjectMeta"], nil
}

// declaredBy returns the type by which t is declared, or nil.
func (s *markerSource) declaredBy(t *markedType) (*markedType, error) {
	if _, isPointer := t.expr.(*ast.StarExpr); isPointer {
		return nil, nil
	}
	qualifier, name := typeNamed(t.expr)
	if qualifier == "" {
		return t.pkg.types[name], nil
	}
	return s.named(importPathOf(t.file, qualifier), name)
}
