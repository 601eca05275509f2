package kubetest

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/go-kube/kube/resource"
)

// kind is a kind that is served, in one version. It never changes after it was registered;
// a custom resource definition that changes makes new ones.
type kind struct {
	*resource.Descriptor
	// list is the name of the kind of lists, such as PodList.
	list string
	// table holds the objects; the versions of a kind share it.
	table *table
	// new returns an empty object.
	new func() runtime.Object
	// custom says that objects are *unstructured.Unstructured and JSON only.
	custom bool
	// storage is the kind in the version that objects are stored in; nil is this one.
	storage *kind
	// load converts the content of a stored object, which it may change and keep, to this version, and
	// store does the reverse. They are nil where storage is.
	load, store func(runtime.Object) runtime.Object

	strategy     *strategy
	subresources map[string]*subresource
	// definition is what the definition of a custom resource says; nil of built-in kinds.
	definition *definedVersion
	managers   fieldManagers
}

// subresource is what can be addressed below the objects of a kind, by verb.
type subresource struct {
	name string
	// body is the identity of the kind of the bodies; nil means the kind of the parent.
	body *resource.Info
	// alsoTakes are kinds that bodies may say they are, which are the same but for their name.
	alsoTakes []schema.GroupVersionKind
	// newBody returns an empty body.
	newBody func() runtime.Object
	// handlers answer requests by verb: get, create, update, patch, connect.
	handlers map[string]handler
	// hasRest says that more may follow in the path.
	hasRest bool
	// counts says that a change through the subresource is a new generation.
	counts bool
	// prepare and validate stand in for the hooks of the strategy where an update goes to the
	// subresource: prepare takes from old what the subresource has no say in.
	prepare  func(rq *request, obj, old runtime.Object)
	validate func(rq *request, obj, old runtime.Object) field.ErrorList
}

func (k *kind) groupVersion() schema.GroupVersion { return k.GroupVersionKind().GroupVersion() }

func (k *kind) groupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// kindOf returns the kind of an object that was sent as one of k. A custom resource says itself
// what it is, and may be wrong.
func (k *kind) kindOf(obj runtime.Object) schema.GroupKind {
	if k.custom {
		return obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	return k.groupKind()
}

func (k *kind) namespaced() bool { return k.Scope == resource.NamespaceScoped }

// jsonOnly reports whether objects have no protobuf form: those of custom resources, and of the
// one built-in kind whose Go type is not that of Kubernetes.
func (k *kind) jsonOnly() bool { return k.custom || !k.Protobuf }

func (k *kind) allows(verb string) bool { return slices.Contains(k.Verbs, verb) }

// convert returns the content of a stored object in the version of k. The result must not be
// changed: where k is the version of storage, it is the stored content itself.
func (k *kind) convert(o *object) runtime.Object {
	if k.load == nil {
		return o.content
	}
	return k.load(o.copy())
}

// copy is convert for who wants to change the result.
func (k *kind) copy(o *object) runtime.Object {
	if k.load == nil {
		return o.copy()
	}
	return k.load(o.copy())
}

// stored returns obj, an object of k, in the version of storage.
func (k *kind) stored(obj runtime.Object) runtime.Object {
	if k.store == nil {
		return obj
	}
	return k.store(obj)
}

// registry knows the kinds that are served. Reading does not wait for writing.
type registry struct {
	mu      sync.Mutex // held while a catalog is made from the one before
	current atomic.Pointer[catalog]
}

// catalog is what a registry knows at one time. It never changes.
type catalog struct {
	kinds  []*kind // in the order of discovery
	byPath map[schema.GroupVersionResource]*kind
	byKind map[schema.GroupVersionKind]*kind
}

func newCatalog(kinds []*kind) *catalog {
	c := &catalog{
		kinds:  kinds,
		byPath: make(map[schema.GroupVersionResource]*kind, len(kinds)),
		byKind: make(map[schema.GroupVersionKind]*kind, len(kinds)),
	}
	for _, k := range kinds {
		c.byPath[k.GroupVersionResource()] = k
		c.byKind[k.GroupVersionKind()] = k
	}
	return c
}

// catalog returns the kinds that are served now.
func (r *registry) catalog() *catalog { return r.current.Load() }

// change replaces the kinds by what f makes of them; f must not change its argument.
func (r *registry) change(f func(kinds []*kind) []*kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current.Store(newCatalog(f(r.current.Load().kinds)))
}

// storedIn returns the kind whose objects a table holds, in the version of storage; nil if no
// version of it is served.
func (c *catalog) storedIn(t *table) *kind {
	for _, k := range c.kinds {
		if k.table == t && k.storage != nil {
			return k.storage
		}
		if k.table == t {
			return k
		}
	}
	return nil
}

// tables returns each table once, with a kind of it that is served, in the order of discovery: the version
// of storage if it is.
func (c *catalog) tables() []*kind {
	var kinds []*kind
	seen := map[*table]bool{}
	for _, k := range c.kinds {
		if k.table != nil && (k.storage == nil || !slices.Contains(c.kinds, k.storage)) && !seen[k.table] {
			seen[k.table] = true
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// ObjectKinds implements runtime.ObjectTyper for the types of served kinds.
func (k *kind) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{k.GroupVersionKind()}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (k *kind) Recognizes(gvk schema.GroupVersionKind) bool { return gvk == k.GroupVersionKind() }

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// setTypeMeta writes apiVersion and kind into obj.
func setTypeMeta(obj runtime.Object, gvk schema.GroupVersionKind) {
	obj.GetObjectKind().SetGroupVersionKind(gvk)
}

var metaV1 = schema.GroupVersion{Group: metav1.GroupName, Version: "v1"}
