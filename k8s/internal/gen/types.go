package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goPackage is a package of API types.
type goPackage struct {
	importPath string
	alias      string            // corev1
	types      map[string]bool   // every type's name
	protobuf   map[string]bool   // the types with an Unmarshal method
	deprecated map[string]string // why a type is deprecated, for those that are
}

// groupVersion is the key of a package of API types.
type groupVersion struct{ group, version string }

func (gv groupVersion) String() string {
	if gv.group == "" {
		return gv.version
	}
	return gv.group + "/" + gv.version
}

var versionName = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// indexTypes finds the packages of API types below folders by the GroupName that they
// declare.
func indexTypes(folders []typeFolder) (map[groupVersion]*goPackage, error) {
	index := map[groupVersion]*goPackage{}
	for _, folder := range folders {
		dirs, err := filepath.Glob(filepath.Join(folder.dir, "*", "v*"))
		if err != nil {
			return nil, err
		}
		slices.Sort(dirs)
		for _, dir := range dirs {
			if !versionName.MatchString(filepath.Base(dir)) {
				continue // k8s.io/api/testdata has a folder per release
			}
			name, p, err := readPackage(dir)
			if err != nil {
				return nil, err
			}
			version, parent := filepath.Base(dir), filepath.Base(filepath.Dir(dir))
			p.importPath = path.Join(folder.importPath, parent, version)
			p.alias = parent + version
			key := groupVersion{name, version}
			if other, ok := index[key]; ok {
				return nil, fmt.Errorf("%s and %s both declare %s/%s", other.importPath, p.importPath, name, version)
			}
			index[key] = p
		}
	}
	return index, nil
}

// readPackage parses a package and returns the value of its GroupName and what it declares.
func readPackage(dir string) (group string, p *goPackage, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", nil, err
	}
	p = &goPackage{types: map[string]bool{}, protobuf: map[string]bool{}, deprecated: map[string]string{}}
	found := false
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return "", nil, err
		}
		for _, decl := range parsed.Decls {
			if name, ok := p.add(decl); ok {
				group, found = name, true
			}
		}
	}
	if !found {
		return "", nil, fmt.Errorf("%s declares no GroupName", dir)
	}
	return group, p, nil
}

// add notes what decl declares. ok says that it was the GroupName.
func (p *goPackage) add(decl ast.Decl) (groupName string, ok bool) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil && decl.Name.Name == "Unmarshal" {
			p.protobuf[receiver(decl)] = true
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[spec.Name.Name] = true
				if _, why, ok := strings.Cut("\n"+decl.Doc.Text(), "\n\nDeprecated: "); ok {
					p.deprecated[spec.Name.Name], _, _ = strings.Cut(why, "\n\n")
				}
			case *ast.ValueSpec:
				if name, is := groupNameOf(spec); is {
					groupName, ok = name, true
				}
			}
		}
	}
	return groupName, ok
}

func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if ident, ok := t.(*ast.Ident); ok {
		return ident.Name
	}
	return ""
}

func groupNameOf(spec *ast.ValueSpec) (string, bool) {
	if len(spec.Names) != 1 || spec.Names[0].Name != "GroupName" || len(spec.Values) != 1 {
		return "", false
	}
	lit, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	name, err := strconv.Unquote(lit.Value)
	return name, err == nil
}
