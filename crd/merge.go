package crd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-kube/kube/internal/suggest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Merge makes one definition of those of a kind's versions, each as [For] returns it. stored
// names the version in which the API server keeps objects. The versions are sorted by name.
//
// Definitions that differ in what there is once per kind (group, names, scope, conversion, a
// label or an annotation) cannot be merged; short names, categories and the conversion may be
// left out in all but one. The error joins everything that is wrong. defs are not changed.
func Merge(stored string, defs ...*apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	if err := checkParts(defs); err != nil {
		return nil, err
	}
	m := &merger{out: defs[0].DeepCopy()}
	m.out.Spec.Versions = nil
	for _, def := range defs {
		m.join(def)
	}
	slices.SortFunc(m.out.Spec.Versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int {
		return cmp.Compare(a.Name, b.Name)
	})
	m.store(stored)
	if len(m.errs) > 0 {
		return nil, fmt.Errorf("crd: merging %s:\n%w", m.out.Name, errors.Join(m.errs...))
	}
	return m.out, nil
}

// checkParts refuses definitions that are not of one version each.
func checkParts(defs []*apiextensionsv1.CustomResourceDefinition) error {
	if len(defs) == 0 {
		return errors.New("crd: there are no definitions to merge")
	}
	for i, def := range defs {
		switch {
		case def == nil:
			return fmt.Errorf("crd: definition %d is nil", i)
		case len(def.Spec.Versions) == 0:
			return fmt.Errorf("crd: definition %d (%s) has no version", i, def.Name)
		case len(def.Spec.Versions) > 1:
			return fmt.Errorf("crd: definition %d (%s) has %d versions; merge definitions of one version each", i, def.Name, len(def.Spec.Versions))
		}
	}
	return nil
}

// merger joins definitions one after another.
type merger struct {
	out  *apiextensionsv1.CustomResourceDefinition
	errs []error
}

func (m *merger) fail(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf(format, args...))
}

func (m *merger) join(def *apiextensionsv1.CustomResourceDefinition) {
	v := *version(def).DeepCopy()
	for _, other := range m.out.Spec.Versions {
		if other.Name == v.Name {
			m.fail("version %s: it stands twice", v.Name)
		}
	}
	have, next := &m.out.Spec, &def.Spec
	m.same(v.Name, "group", have.Group, next.Group)
	m.same(v.Name, "kind", have.Names.Kind, next.Names.Kind)
	m.same(v.Name, "listKind", have.Names.ListKind, next.Names.ListKind)
	m.same(v.Name, "plural", have.Names.Plural, next.Names.Plural)
	m.same(v.Name, "singular", have.Names.Singular, next.Names.Singular)
	m.same(v.Name, "scope", string(have.Scope), string(next.Scope))
	m.same(v.Name, "preserveUnknownFields", fmt.Sprint(have.PreserveUnknownFields), fmt.Sprint(next.PreserveUnknownFields))
	have.Names.ShortNames = m.names(v.Name, "shortNames", have.Names.ShortNames, next.Names.ShortNames)
	have.Names.Categories = m.names(v.Name, "categories", have.Names.Categories, next.Names.Categories)
	m.conversion(v.Name, next.Conversion)
	m.out.Labels = m.keys(v.Name, "label", m.out.Labels, def.Labels)
	m.out.Annotations = m.keys(v.Name, "annotation", m.out.Annotations, def.Annotations)
	m.out.Spec.Versions = append(m.out.Spec.Versions, v)
}

func (m *merger) same(version, what, have, next string) {
	if have != next {
		m.fail("version %s: its %s is %q, and that of %s is %q", version, what, next, m.first(), have)
	}
}

// first names what a version is compared with.
func (m *merger) first() string {
	if len(m.out.Spec.Versions) == 0 {
		return "the first"
	}
	return "version " + m.out.Spec.Versions[0].Name
}

func (m *merger) names(version, what string, have, next []string) []string {
	if len(have) == 0 {
		return slices.Clone(next)
	}
	if len(next) > 0 && !slices.Equal(have, next) {
		m.fail("version %s: its %s are %s, and before they are %s", version, what, strings.Join(next, ", "), strings.Join(have, ", "))
	}
	return have
}

func (m *merger) conversion(version string, next *apiextensionsv1.CustomResourceConversion) {
	have := m.out.Spec.Conversion
	switch {
	case next == nil:
	case have == nil:
		m.out.Spec.Conversion = next.DeepCopy()
	case !sameJSON(have, next):
		m.fail("version %s: its conversion differs from that of another version", version)
	}
}

func sameJSON(a, b any) bool {
	x, errX := asJSON(a)
	y, errY := asJSON(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (m *merger) keys(version, what string, have, next map[string]string) map[string]string {
	for _, key := range keysOf(next) {
		old, ok := have[key]
		if ok && old != next[key] {
			m.fail("version %s: its %s %s is %q, and before it is %q", version, what, key, next[key], old)
		}
		if have == nil {
			have = map[string]string{}
		}
		have[key] = next[key]
	}
	return have
}

// store marks the version that is stored, and no other one.
func (m *merger) store(stored string) {
	found, served := false, false
	var names []string
	for i := range m.out.Spec.Versions {
		v := &m.out.Spec.Versions[i]
		v.Storage = v.Name == stored
		found = found || v.Storage
		served = served || v.Served
		names = append(names, v.Name)
	}
	if !found {
		m.fail("there is no version %q to store; there are %s%s", stored, strings.Join(names, ", "), suggest.DidYouMean(stored, names))
	}
	if !served {
		m.fail("none of the versions is served")
	}
}
