package kubetest

import (
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
