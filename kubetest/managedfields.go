package kubetest

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// fieldManagers are the field managers of a kind, by subresource. They are made when they are
// first needed. The zero value is ready to use.
type fieldManagers struct {
	mu   sync.Mutex
	made map[string]*managedfields.FieldManager

	creation  *creation
	uncreated bool // there is no creation, and never will be
}

// fieldManager returns the field manager for writes to a subresource of k, or to the object itself
// if it is empty.
func (s *Server) fieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	k.managers.mu.Lock()
	defer k.managers.mu.Unlock()
	if m := k.managers.made[subresource]; m != nil {
		return m, nil
	}
	m, err := s.newFieldManager(k, subresource)
	if err != nil {
		return nil, fmt.Errorf("manage the fields of %s: %w", k.Plural, err)
	}
	if k.managers.made == nil {
		k.managers.made = map[string]*managedfields.FieldManager{}
	}
	k.managers.made[subresource] = m
	return m, nil
}

func (s *Server) newFieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	if subresource == "scale" {
		return newScaleFieldManager(k.custom)
	}
	if k.custom {
		return k.definition.fieldManager(k, subresource)
	}
	c := &builtinObjects{server: s, kind: k}
	return managedfields.NewDefaultFieldManager(c, c, c, c, k.GroupVersionKind(), k.groupVersion(), subresource, s.resets(k, subresource))
}

// trackFields returns obj with its managedFields brought up to date: the request's field
// manager owns what it changed against old, which is nil on creation.
func (rq *request) trackFields(obj, old runtime.Object) (runtime.Object, error) {
	if old == nil && rq.trackNew(obj) {
		return obj, nil
	}
	m, err := rq.server.fieldManager(rq.kind, rq.subresource)
	if err != nil {
		return nil, err
	}
	if old == nil {
		old = rq.kind.empty()
	}
	return updateFields(m, old, obj, rq.fieldManager), nil
}

// updateFields is UpdateNoErrors without a log: obj keeps the managed fields of old if what it is
// cannot be read as its schema wants it, which is an error that validation reports.
func updateFields(m *managedfields.FieldManager, old, obj runtime.Object, manager string) runtime.Object {
	tracked, err := m.Update(old, obj, manager)
	if err != nil {
		accessor(obj).SetManagedFields(accessor(old).GetManagedFields())
		return obj
	}
	return tracked
}

// empty returns an object that has its kind and nothing else, as far as objects of k have a kind.
func (k *kind) empty() runtime.Object {
	obj := k.new()
	if k.custom {
		setTypeMeta(obj, k.GroupVersionKind())
	}
	return obj
}

// keepTimes takes the times of the managed fields from old if they are all that obj has
// changed, so that a change of nothing is none.
func keepTimes(obj, old runtime.Object) {
	m, had := accessor(obj), accessor(old).GetManagedFields()
	have := m.GetManagedFields()
	if !onlyTimesDiffer(have, had) {
		return
	}
	m.SetManagedFields(had)
	if !sameObject(obj, old) {
		m.SetManagedFields(have)
	}
}

// onlyTimesDiffer reports whether a and b are the same but for times, of which one at least is
// not the same.
func onlyTimesDiffer(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	differ := false
	for i := range a {
		x, y := a[i], b[i]
		differ = differ || !x.Time.Equal(y.Time)
		x.Time, y.Time = nil, nil
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return differ
}

func sameObject(a, b runtime.Object) bool {
	if _, ok := a.(*unstructured.Unstructured); ok {
		return equality.Semantic.DeepEqualWithNilDifferentFromEmpty(a, b)
	}
	return equality.Semantic.DeepEqual(a, b)
}
