package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// pkg is a package to be written.
type pkg struct {
	folder  string // below k8s/
	name    string
	group   string
	version string
	others  []string // import paths of the other versions' packages, relative to k8s/
	imports map[string]string
	vars    []variable
}

// variable is a descriptor to be written.
type variable struct {
	name   string
	doc    []string // paragraphs
	define string   // DefineNamespaced, DefineCluster, DefineSubresource, DefineConnection, or Builtin… where the Go type has a protobuf form
	types  string   // type arguments
	sub    string   // name of the subresource; empty for a kind
	info   info

	deprecated string // why; empty for most
}

type info struct {
	Group, Version, Kind, Plural, Singular      string
	ShortNames, Categories, Verbs, Subresources []string
	Protobuf                                    bool
}

// localTypes are kinds whose Go type is in the descriptor's own package, since the module
// that has Kubernetes' own is not among kube's requirements.
var localTypes = map[groupVersion]*goPackage{
	{"apiregistration.k8s.io", "v1"}: {types: map[string]bool{"APIService": true}},
}

// connections are the subresources that are streams or raw HTTP rather than objects, and the
// kinds of their options, which travel in the query.
var connections = map[string]string{
	"nodes/proxy":      "NodeProxyOptions",
	"pods/attach":      "PodAttachOptions",
	"pods/exec":        "PodExecOptions",
	"pods/log":         "PodLogOptions", // discovery says Pod: the log has no kind of its own
	"pods/portforward": "PodPortForwardOptions",
	"pods/proxy":       "PodProxyOptions",
	"services/proxy":   "ServiceProxyOptions",
}

// plan decides on the packages, in the order of the discovery documents: the API server's
// order of groups, and in a group its preferred version first.
func plan(groups []group, types map[groupVersion]*goPackage) ([]*pkg, error) {
	var packages []*pkg
	for _, g := range groups {
		var of []*pkg
		for i, v := range g.versions {
			p := &pkg{folder: folderOf(g.name), name: folderOf(g.name), group: g.name, version: v.name, imports: map[string]string{}}
			if i > 0 {
				p.folder = path.Join(p.folder, v.name)
			}
			for _, k := range v.resources {
				if err := p.add(k, types); err != nil {
					return nil, err
				}
			}
			of = append(of, p)
		}
		for _, p := range of {
			for _, other := range of {
				if p != other {
					p.others = append(p.others, other.folder)
				}
			}
		}
		packages = append(packages, of...)
	}
	return packages, nil
}

// add plans the variables of k: itself, then its subresources.
func (p *pkg) add(k *kind, types map[groupVersion]*goPackage) error {
	if k.Group != "" || k.Version != "" {
		return fmt.Errorf("%s %s: kinds of another group are not handled", p.group, k.Name)
	}
	parent, protobuf, err := p.use(groupVersion{p.group, p.version}, k.Kind, types)
	if err != nil {
		return err
	}
	v := variable{name: variableOf(k.Kind, k.Name), define: "DefineCluster", types: parent}
	if t := types[groupVersion{p.group, p.version}]; t != nil {
		v.deprecated = t.deprecated[k.Kind]
	}
	if k.Namespaced {
		v.define = "DefineNamespaced"
	}
	v.define = withMessage(v.define, protobuf)
	v.info = info{
		Group: p.group, Version: p.version, Kind: k.Kind, Plural: k.Name, Singular: k.SingularName,
		ShortNames: k.ShortNames, Categories: k.Categories, Verbs: k.Verbs, Protobuf: protobuf,
	}
	var subs []variable
	for _, s := range k.subresources {
		v.info.Subresources = append(v.info.Subresources, s.Name)
		if s.Name == "status" || s.Name == "scale" && s.Kind == "Scale" {
			continue // API has Status and Scale; the latter's type would link all of autoscaling/v1
		}
		sub, err := p.subresource(k, parent, s, types)
		if err != nil {
			return err
		}
		subs = append(subs, sub)
	}
	v.doc = kindDoc(p, k, v)
	p.vars = append(append(p.vars, v), subs...)
	return nil
}

func (p *pkg) subresource(k *kind, parent string, s apiResource, types map[groupVersion]*goPackage) (variable, error) {
	gv := groupVersion{cmp.Or(s.Group, p.group), cmp.Or(s.Version, p.version)}
	options, connection := connections[k.Name+"/"+s.Name]
	body := s.Kind
	if connection {
		body = options
	}
	goType, protobuf, err := p.use(gv, body, types)
	if err != nil {
		return variable{}, err
	}
	v := variable{
		name: subresourceVariableOf(k.Kind, s.Name), define: "DefineSubresource",
		types: parent + ", " + goType, sub: s.Name,
		info: info{Group: gv.group, Version: gv.version, Kind: body, Verbs: s.Verbs, Protobuf: protobuf},
	}
	v.define = withMessage(v.define, protobuf)
	if connection {
		v.define, v.info.Protobuf = "DefineConnection", false
	}
	v.doc = subresourceDoc(k, v)
	return v, nil
}

// withMessage names the constructor that also takes the protobuf form of a Go type.
func withMessage(define string, protobuf bool) string {
	if !protobuf {
		return define
	}
	return strings.Replace(define, "Define", "Builtin", 1)
}

// use imports the package of a kind's Go type, and returns the type as it is written and
// whether it has a protobuf form.
func (p *pkg) use(gv groupVersion, kind string, types map[groupVersion]*goPackage) (goType string, protobuf bool, err error) {
	if local, ok := localTypes[gv]; ok && local.types[kind] {
		return kind, false, nil
	}
	t := types[gv]
	if t == nil || !t.types[kind] {
		return "", false, fmt.Errorf("no Go type for %s %s: neither k8s.io/api nor k8s.io/apiextensions-apiserver has it", gv, kind)
	}
	p.imports[t.alias] = t.importPath
	return t.alias + "." + kind, t.protobuf[kind], nil
}

func kindDoc(p *pkg, k *kind, v variable) []string {
	scope, namespace := "Cluster-scoped.", ""
	if k.Namespaced {
		scope, namespace = "Namespaced.", "/namespaces/{namespace}"
	}
	doc := []string{
		fmt.Sprintf("%s describes %s %s, objects of type [%s], at %s%s/%s.", v.name, groupVersion{p.group, p.version}, k.Kind, v.types, root(p), namespace, k.Name),
		scope + sentence("Short names", k.ShortNames) + sentence("Categories", k.Categories) +
			sentence("Verbs", k.Verbs) + sentence("Subresources", v.info.Subresources),
	}
	if v.deprecated != "" {
		doc = append(doc, "Deprecated: "+v.deprecated)
	}
	return doc
}

func subresourceDoc(k *kind, v variable) []string {
	what := "bodies"
	if v.define == "DefineConnection" {
		what = "a connection with options"
	}
	_, body, _ := strings.Cut(v.types, ", ")
	return []string{fmt.Sprintf("%s describes %s of [%s], %s of type [%s].%s",
		v.name, v.sub, variableOf(k.Kind, k.Name), what, body, sentence("Verbs", v.info.Verbs))}
}

func sentence(title string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return " " + title + ": " + strings.Join(items, ", ") + "."
}

func root(p *pkg) string {
	if p.group == "" {
		return "/api/" + p.version
	}
	return "/apis/" + p.group + "/" + p.version
}
