// Package packagecrd makes the CustomResourceDefinitions of the kinds that Go packages declare.
//
// Schemas are derived by reflection, so that the packages have to run: a program that imports
// them is built in their module and asked for the definitions. Nothing is written into the
// module: the program and the go.mod it needs are laid over the file system by the go command.
package packagecrd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
)

// Options is what [Of] may be told.
type Options struct {
	// Dir is the directory in which patterns count. Empty means the present one.
	Dir string
	// Kube is the version of the kube module that derives definitions where the packages' module
	// does not require it, or the directory of its source. Empty is an error there.
	Kube string
	// EmbeddedObjectMeta is that of [crd.MarkerOptions].
	EmbeddedObjectMeta bool
	// MaxDescription is that of [crd.Options]; it does not change what functions return.
	MaxDescription int
	// Warn is told what is noteworthy and no error. It may be nil.
	Warn func(format string, args ...any)
}

// Of returns the definitions of the kinds in the Go packages that patterns name, sorted by
// name. A kind of several versions has one definition.
func Of(ctx context.Context, o Options, patterns ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	g := &goCommand{dir: o.Dir}
	packages, err := g.list(ctx, patterns)
	if err != nil {
		return nil, err
	}
	found, err := find(packages)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no kinds are declared there: no variable that is set by resource.DefineNamespaced or DefineCluster, no function that returns a CustomResourceDefinition, no type with metav1.ObjectMeta in a package with a comment +groupName", strings.Join(patterns, " "))
	}
	answers, err := derive(ctx, g, o, packages, found)
	if err != nil {
		return nil, err
	}
	return merge(found, answers)
}

// answer is what the program says of one origin.
type answer struct {
	Definitions []*apiextensionsv1.CustomResourceDefinition
	Error       string
	// Kind and Descriptor name what the error is about, where that is a descriptor: plural.group and
	// plural.version.group.
	Kind, Descriptor string
}

// part is a definition and what declares it.
type part struct {
	origin origin
	def    *apiextensionsv1.CustomResourceDefinition
}

// merge joins the versions of each kind. All that is wrong is reported.
func merge(origins []origin, answers []answer) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var errs []error
	byName := map[string][]part{}
	var names []string
	for i, a := range answers {
		if a.Error != "" && !isTold(a, origins, answers) {
			errs = append(errs, fmt.Errorf("%s: %s", origins[i], a.Error))
		}
		for _, def := range a.Definitions {
			if def == nil {
				errs = append(errs, fmt.Errorf("%s: returned nil for a definition", origins[i]))
				continue
			}
			if byName[def.Name] == nil {
				names = append(names, def.Name)
			}
			byName[def.Name] = append(byName[def.Name], part{origins[i], def})
		}
	}
	slices.Sort(names)
	var defs []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		def, err := mergeKind(name, byName[name])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defs = append(defs, def)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return defs, nil
}

// isTold reports whether a function answers for the kind of a descriptor that cannot be derived as
// it is: it returns the definition, or an error about it.
func isTold(a answer, origins []origin, answers []answer) bool {
	if a.Kind == "" {
		return false
	}
	for i, other := range answers {
		isIt := func(def *apiextensionsv1.CustomResourceDefinition) bool { return def != nil && def.Name == a.Kind }
		if origins[i].kind == byFunction && (slices.ContainsFunc(other.Definitions, isIt) || strings.Contains(other.Error, a.Descriptor)) {
			return true
		}
	}
	return false
}

// mergeKind makes one definition of what there is of a kind. What a function returns is what
// the author wants, and goes before what was derived without being told anything.
func mergeKind(name string, parts []part) (*apiextensionsv1.CustomResourceDefinition, error) {
	if slices.ContainsFunc(parts, part.isWritten) {
		parts = slices.DeleteFunc(parts, func(p part) bool { return !p.isWritten() })
		return whole(name, parts)
	}
	if len(parts) == 1 {
		return parts[0].def, nil
	}
	stored, err := storedVersion(name, parts)
	if err != nil {
		return nil, err
	}
	var versions []*apiextensionsv1.CustomResourceDefinition
	for _, p := range parts {
		versions = append(versions, p.def)
	}
	return crd.Merge(stored, versions...)
}

func (p part) isWritten() bool { return p.origin.kind == byFunction }

// whole returns the definition that has the versions of all others: several functions may
// return parts of it.
func whole(name string, parts []part) (*apiextensionsv1.CustomResourceDefinition, error) {
	most := slices.MaxFunc(parts, func(a, b part) int { return len(a.def.Spec.Versions) - len(b.def.Spec.Versions) })
	for _, p := range parts {
		sameSize := len(p.def.Spec.Versions) == len(most.def.Spec.Versions)
		if sameSize && !sameJSON(p.def, most.def) || !includes(most.def, p.def) {
			return nil, fmt.Errorf("%s: %s and %s return different definitions of it: let one of them return all versions (crd.Merge), or do not export the other", name, most.origin, p.origin)
		}
	}
	return most.def, nil
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func includes(def, part *apiextensionsv1.CustomResourceDefinition) bool {
	return !slices.ContainsFunc(part.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return !slices.ContainsFunc(def.Spec.Versions, func(w apiextensionsv1.CustomResourceDefinitionVersion) bool { return w.Name == v.Name })
	})
}

// storedVersion is the one that a marker names.
func storedVersion(name string, parts []part) (string, error) {
	var stored, all []string
	for _, p := range parts {
		version := p.def.Spec.Versions[0].Name
		all = append(all, version)
		if p.origin.stored {
			stored = append(stored, version)
		}
	}
	if len(stored) == 1 {
		return stored[0], nil
	}
	which := "none of them is marked as stored"
	if len(stored) > 1 {
		which = strings.Join(stored, " and ") + " are marked as stored"
	}
	return "", fmt.Errorf("%s: there are the versions %s, and %s: write +kubebuilder:storageversion above the type of one, or a function that returns what crd.Merge makes of them", name, strings.Join(all, ", "), which)
}
