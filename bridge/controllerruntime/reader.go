package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-kube/kube/runtime/reflector"
)

// Options changes how a Reader answers. The zero value, and nil, answer for the kinds that were
// added and refuse the others.
type Options struct {
	// Fallback answers for kinds, and namespaces, that no store was added for. Without it such
	// reads fail with [ErrNoStore].
	Fallback client.Reader
	// OnDecodeError is told of each object that does not decode into its Go type, and a list
	// goes on without it. Without it the list fails, since nobody else would know. It may be
	// called by several goroutines at once.
	OnDecodeError func(error)
}

// ErrNoStore is the error of a read that no store was added for.
var ErrNoStore = errors.New("no store was added for it")

// Reader is a client.Reader of controller-runtime that answers from stores of kube. Make one with
// [NewReader]. Its methods are safe for concurrent use, Add included.
type Reader struct {
	opts Options

	mu     sync.RWMutex
	stores []*store
}

var _ client.Reader = (*Reader)(nil)

// NewReader returns a reader without stores. opts may be nil.
func NewReader(opts *Options) *Reader {
	r := &Reader{}
	if opts != nil {
		r.opts = *opts
	}
	return r
}

// Add makes the reader answer for the kind of objects, in the namespaces that it spans. What its
// selectors leave out does not exist for readers, as with the ByObject options of
// controller-runtime's cache. fields, which may be nil, are the indexes by the names that field
// selectors use; they have to be registered with objects.
//
// Reads wait until objects has its first snapshot, so its Run has to be under way. Add panics when
// *K is no client.Object, and when the reader has a store for the same kind, type and namespace:
// mistakes in the program.
func (r *Reader) Add[K any](objects *reflector.Reflector[K], fields map[string]*reflector.Index[K]) {
	s := newStore(objects, fields)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.stores {
		if other.gvk == s.gvk && other.goType == s.goType && other.namespace == s.namespace {
			panic(fmt.Sprintf("controllerruntime: a store of %s in namespace %q was added before", s.gvk, s.namespace))
		}
	}
	r.stores = append(r.stores, s)
}

// Get implements client.Reader. An object that is not in the store is an error for which
// apierrors.IsNotFound holds.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	var o client.GetOptions
	o.ApplyOptions(opts)
	s, form, err := r.find(obj, reflect.TypeOf(obj).Elem(), key.Namespace)
	if errors.Is(err, ErrNoStore) && r.opts.Fallback != nil {
		return r.opts.Fallback.Get(ctx, key, obj, opts...)
	}
	if err != nil {
		return err
	}
	version := ""
	if o.Raw != nil {
		version = o.Raw.ResourceVersion
	}
	if err := s.wait(ctx, version); err != nil {
		return err
	}
	raw, ok := s.get(key)
	if !ok {
		// controller-runtime's cache names the kind where the resource should stand, and so do we.
		return apierrors.NewNotFound(schema.GroupResource{Group: s.gvk.Group, Resource: s.gvk.Kind}, key.Name)
	}
	found, err := s.decode(raw, form)
	if err != nil {
		return err
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

// continueUnsupported is the continue token of a list that a limit has cut short, in the words of
// controller-runtime's cache: who asks for the rest with it gets an error, and does not take a part for all.
const continueUnsupported = "continue-not-supported"

// List implements client.Reader. Field selectors need an index, see [Reader.Add]; other than
// equality, and the continue option, are refused as by controller-runtime's cache. Labels, namespaces and fields are
// looked up in the indexes that objects has, see [reflector.Store.Query]. The resource version is that of the
// store, and the continue token says whether a limit has left something out.
func (r *Reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	item, err := itemType(list)
	if err != nil {
		return err
	}
	s, form, err := r.find(list, item, o.Namespace)
	if errors.Is(err, ErrNoStore) && r.opts.Fallback != nil {
		return r.opts.Fallback.List(ctx, list, opts...)
	}
	if err != nil {
		return err
	}
	if o.Continue != "" {
		return errors.New("the continue option is not supported by a cache: it has no pages")
	}
	version := ""
	if o.Raw != nil {
		version = o.Raw.ResourceVersion
	}
	if err := s.wait(ctx, version); err != nil {
		return err
	}
	version = s.version() // of before the objects are read: a watch from it misses nothing
	selected, err := s.selected(&o)
	if err != nil {
		return err
	}
	var items []runtime.Object
	next := ""
	for raw := range selected {
		if o.Limit > 0 && int64(len(items)) >= o.Limit {
			next = continueUnsupported
			break
		}
		found, err := s.decode(raw, form)
		if err != nil && r.opts.OnDecodeError == nil {
			return err
		}
		if err != nil {
			r.opts.OnDecodeError(err)
			continue
		}
		items = append(items, found)
	}
	if err := meta.SetList(list, items); err != nil {
		return err
	}
	list.SetResourceVersion(version)
	list.SetContinue(next)
	return nil
}

// find returns the store that answers for obj, an object or list whose objects are of type
// item, in namespace.
func (r *Reader) find(obj runtime.Object, item reflect.Type, namespace string) (*store, form, error) {
	gvk, f, err := wanted(obj, item)
	if err != nil {
		return nil, 0, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.stores {
		matches := s.goType == item
		if f != typed {
			matches = s.gvk == gvk
		}
		if matches && s.spans(namespace) && s.has(f) {
			return s, f, nil
		}
	}
	name := item.String()
	if f != typed {
		name = gvk.String()
	}
	return nil, 0, fmt.Errorf("reading %s in namespace %q: %w; Add one, or set Options.Fallback", name, namespace, ErrNoStore)
}

// form is how an object is wanted.
type form int

const (
	typed form = iota
	asUnstructured
	metadataOnly
)

var (
	unstructuredType = reflect.TypeFor[unstructured.Unstructured]()
	metadataType     = reflect.TypeFor[metav1.PartialObjectMetadata]()
)

// wanted returns what an object or a list is about.
func wanted(obj runtime.Object, item reflect.Type) (gvk schema.GroupVersionKind, f form, err error) {
	switch item {
	case unstructuredType:
		f = asUnstructured
	case metadataType:
		f = metadataOnly
	default:
		return gvk, typed, nil
	}
	gvk = obj.GetObjectKind().GroupVersionKind()
	if meta.IsListType(obj) {
		gvk.Kind = trimList(gvk.Kind)
	}
	if gvk.Kind == "" || gvk.Version == "" {
		return gvk, f, fmt.Errorf("reading a %T: set its apiVersion and kind, nothing else says of what kind it is", obj)
	}
	return gvk, f, nil
}

func trimList(kind string) string {
	if n := len(kind) - len("List"); n > 0 && kind[n:] == "List" {
		return kind[:n]
	}
	return kind
}

// itemType returns the type of the objects of a list.
func itemType(list client.ObjectList) (reflect.Type, error) {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", list, err)
	}
	item := reflect.TypeOf(items).Elem().Elem()
	if item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	return item, nil
}
