package kubetest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is which objects a list or a watch is about.
type selection struct {
	kind      *kind
	namespace string
	labels    labels.Selector // nil selects all
	fields    fields.Selector // nil selects all
}

func (rq *request) selection(o *internalversion.ListOptions) *selection {
	s := &selection{kind: rq.kind, namespace: rq.objectNamespace()}
	if o.LabelSelector != nil && !o.LabelSelector.Empty() {
		s.labels = o.LabelSelector
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		s.fields = o.FieldSelector
	}
	if ns, ok := s.exact("metadata.namespace"); ok && s.namespace == "" && s.kind.namespaced() {
		s.namespace = ns
	}
	return s
}

// everything reports whether no selector narrows the selection.
func (s *selection) everything() bool { return s.labels == nil && s.fields == nil }

// exact returns the only value of a field that is selected.
func (s *selection) exact(field string) (string, bool) {
	if s.fields == nil {
		return "", false
	}
	return s.fields.RequiresExactMatch(field)
}

// matches reports whether o is selected; o may be nil.
func (s *selection) matches(o *object) bool {
	switch {
	case o == nil:
		return false
	case s.namespace != "" && o.meta.GetNamespace() != s.namespace:
		return false
	case s.labels != nil && !s.labels.Matches(labels.Set(o.meta.GetLabels())):
		return false
	case s.fields != nil && !s.fields.Matches(s.kind.fieldsOf(o)):
		return false
	}
	return true
}

// fieldsOf returns the values of the fields that selectors can use.
func (k *kind) fieldsOf(o *object) fields.Set {
	set := fields.Set{}
	if k.strategy.fields != nil {
		set = k.strategy.fields(k.convert(o))
	}
	set["metadata.name"] = o.meta.GetName()
	if k.namespaced() {
		set["metadata.namespace"] = o.meta.GetNamespace()
	}
	return set
}

// fieldLabel checks a field of a selector, and returns its name and value as fieldsOf has them.
func (k *kind) fieldLabel(label, value string) (string, string, error) {
	switch {
	case label == "metadata.name", label == "metadata.namespace":
		return label, value, nil
	case k.strategy.fields != nil:
		if _, ok := k.strategy.fields(k.new())[label]; ok {
			return label, value, nil
		}
	}
	return "", "", fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace")
}
