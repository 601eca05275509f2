package kubetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// systemNamespaces are the namespaces that every cluster has.
var systemNamespaces = []string{
	metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault,
}

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// preload creates what exists from the start.
func (s *Server) preload() error {
	given, err := s.options.given()
	if err != nil {
		return err
	}
	if err := s.preloadNamespaces(given); err != nil {
		return err
	}
	slices.SortStableFunc(given, func(a, b source) int { return cmp.Compare(a.turn(), b.turn()) })
	for _, src := range given {
		if err := s.preloadOne(src.object); err != nil {
			return fmt.Errorf("%s: %w", src.name, err)
		}
		if src.turn() == 0 {
			s.life.settle() // it is served now, to the objects that follow
		}
	}
	if err := s.preloadSystem(); err != nil {
		return err
	}
	s.life.settle()
	return nil
}

// preloadNamespaces creates the namespaces that every cluster has, but for those that are given.
func (s *Server) preloadNamespaces(given []source) error {
	for _, name := range systemNamespaces {
		if slices.ContainsFunc(given, func(src source) bool { return src.turn() == 1 && accessor(src.object).GetName() == name }) {
			continue
		}
		if err := s.ensureNamespace(name); err != nil {
			return err
		}
		s.system[s.store.namespaces.get(key{name: name})] = true
	}
	return nil
}

// source is an object that was given, and the name of where it is from.
type source struct {
	object runtime.Object
	name   string
}

// turn returns when an object is created: definitions first, then namespaces, then the rest.
func (s *source) turn() int {
	kind := s.object.GetObjectKind().GroupVersionKind().Kind
	switch s.object.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return 0
	case *corev1.Namespace:
		return 1
	}
	switch kind {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// given returns what the options say should exist.
func (o *Options) given() ([]source, error) {
	var all []source
	for i, definition := range o.CRDs {
		if definition == nil {
			return nil, fmt.Errorf("Options.CRDs[%d] is nil", i)
		}
		all = append(all, source{definition, fmt.Sprintf("Options.CRDs[%d]", i)})
	}
	for i, obj := range o.Objects {
		if obj == nil {
			return nil, fmt.Errorf("Options.Objects[%d] is nil", i)
		}
		all = append(all, source{obj, fmt.Sprintf("Options.Objects[%d]", i)})
	}
	documents, err := parseDocuments("Options.YAML", []byte(o.YAML))
	if err != nil {
		return nil, err
	}
	all = append(all, documents...)
	files, err := readFiles(o.Files)
	return append(all, files...), err
}

func (s *Server) ensureNamespace(name string) error {
	if name == "" || s.store.namespaceState(name) == namespaceActive {
		return nil
	}
	k := s.kinds.catalog().byKind[namespaceKind]
	if _, err := s.add(k, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	return nil
}

// preloadOne creates an object, and gives it the status and the deletion that it comes with.
func (s *Server) preloadOne(given runtime.Object) error {
	k, obj, err := s.recognize(given)
	if err != nil {
		return err
	}
	m := accessor(obj)
	if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 {
		return errors.New("it has a deletion timestamp and no finalizers, so it would be gone; give it finalizers, or leave it out")
	}
	m.SetResourceVersion("")
	if k.namespaced() && m.GetNamespace() == "" {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	if k.namespaced() {
		if err := s.ensureNamespace(m.GetNamespace()); err != nil {
			return err
		}
	}
	o, err := s.add(k, obj.DeepCopyObject())
	if err != nil {
		return err
	}
	return s.preloadRest(k, obj, o)
}

// preloadRest does what a client cannot do by a creation.
func (s *Server) preloadRest(k *kind, given runtime.Object, o *object) error {
	m := accessor(given)
	if k.subresources["status"] != nil && !emptyStatus(given) {
		rq := s.internal(verbUpdate, k, o.meta.GetNamespace(), o.meta.GetName())
		rq.subresource = "status"
		if _, _, err := rq.modify(modification{change: func(live runtime.Object) (runtime.Object, error) {
			obj := live.DeepCopyObject()
			copyStatus(given, obj)
			return obj, nil
		}}); err != nil {
			return fmt.Errorf("status: %w", err)
		}
	}
	at := m.GetDeletionTimestamp()
	if at == nil {
		return nil
	}
	rq := s.internal(verbDelete, k, o.meta.GetNamespace(), o.meta.GetName())
	if !at.IsZero() {
		rq.deletedAt = at
	}
	if _, _, err := rq.delete(o.meta.GetName(), &metav1.DeleteOptions{GracePeriodSeconds: m.GetDeletionGracePeriodSeconds()}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// add creates an object of k, which it may change, as a client would.
func (s *Server) add(k *kind, obj runtime.Object) (*object, error) {
	m := accessor(obj)
	rq := s.internal(verbCreate, k, m.GetNamespace(), m.GetName())
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	k.strategy.setDefaults(obj)
	if err := rq.setNamespace(m); err != nil {
		return nil, err
	}
	if m.GetManagedFields() == nil {
		var err error
		if obj, err = rq.trackFields(obj, nil); err != nil {
			return nil, err
		}
	}
	return rq.create(obj)
}

// recognize returns the kind of an object, and a copy of the object as that kind has it.
func (s *Server) recognize(given runtime.Object) (*kind, runtime.Object, error) {
	c := s.kinds.catalog()
	gvk := given.GetObjectKind().GroupVersionKind()
	k := c.byKind[gvk]
	if k == nil && gvk.Kind == "" {
		k = c.byType(given)
	}
	if k == nil {
		return nil, nil, unknownKind(given, gvk)
	}
	if k.table == nil || !k.allows(verbCreate) {
		return nil, nil, fmt.Errorf("objects of kind %s are not stored", gvk)
	}
	obj, err := k.adopt(given)
	return k, obj, err
}

func unknownKind(given runtime.Object, gvk schema.GroupVersionKind) error {
	if gvk.Kind == "" {
		return fmt.Errorf("a %T does not say what kind it is: set apiVersion and kind", given)
	}
	return fmt.Errorf("the server has no kind %s; a custom resource needs its definition in Options.CRDs, YAML or Files", gvk)
}

// byType returns the kind whose Go type an object has, nil if there is none.
func (c *catalog) byType(obj runtime.Object) *kind {
	for _, k := range c.kinds {
		if !k.custom && sameType(k.new(), obj) {
			return k
		}
	}
	return nil
}

// adopt returns a copy of an object in the Go type that objects of k have in the server.
func (k *kind) adopt(given runtime.Object) (runtime.Object, error) {
	if obj := k.new(); sameType(obj, given) {
		obj = given.DeepCopyObject()
		if !k.custom {
			setTypeMeta(obj, schema.GroupVersionKind{})
		}
		return obj, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(given)
	if err != nil {
		return nil, err
	}
	if k.custom {
		u := &unstructured.Unstructured{Object: fields}
		u.SetGroupVersionKind(k.GroupVersionKind())
		return u, nil
	}
	obj := k.new()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, obj, true); err != nil {
		return nil, err
	}
	setTypeMeta(obj, schema.GroupVersionKind{})
	return obj, nil
}
