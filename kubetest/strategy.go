package kubetest

import (
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// strategy is what is particular to the objects of a kind. Every hook may be nil. Objects are
// of the kind's Go type, in the version of the request; old is nil on creation. Hooks
// named prepare and defaults may change obj, nothing may change old.
//
// The order of a write is: defaults (when the body is read), admit, prepare, validate,
// warnings, canonicalize.
type strategy struct {
	// coerce removes what the schema of a custom resource does not have.
	coerce coercion
	// defaults fills in what the client left out.
	defaults func(obj runtime.Object)
	// admit is what admission plugins do: it may change the object or refuse the request.
	admit func(rq *request, obj, old runtime.Object) error
	// beginDelete stands in for what a deletion does to an object that is not going yet: it
	// returns a copy that is.
	beginDelete func(rq *request, live runtime.Object, options *metav1.DeleteOptions) (runtime.Object, error)
	// admitDelete is admit of a deletion.
	admitDelete func(rq *request, obj runtime.Object) error
	// prepareCreate and prepareUpdate normalize an object before it is validated: they drop
	// what the client has no say in and count generations. Of every kind that has a status
	// subresource, the status has already been taken from old.
	prepareCreate func(rq *request, obj runtime.Object)
	prepareUpdate func(rq *request, obj, old runtime.Object)
	// validate and validateUpdate return what is wrong with an object. The metadata is
	// validated elsewhere.
	validate       func(rq *request, obj runtime.Object) field.ErrorList
	validateUpdate func(rq *request, obj, old runtime.Object) field.ErrorList
	// prepareStatus and validateStatus are the same for the status subresource; everything but
	// metadata and status has already been taken from old.
	prepareStatus  func(rq *request, obj, old runtime.Object)
	validateStatus func(rq *request, obj, old runtime.Object) field.ErrorList
	// warnings returns what the client should know about an object that is accepted.
	warnings func(rq *request, obj, old runtime.Object) []string
	// canonicalize changes a valid object into the form that is stored.
	canonicalize func(obj runtime.Object)

	// deprecated is the warning that every answer about the kind has; empty for none.
	deprecated string
	// validName says what is wrong with a name, or the beginning of one; nil means that
	// any element of a path is a name.
	validName func(name string, prefix bool) []string
	// selectable is what field selectors can use; nil is the name and the namespace only.
	selectable *selectable
	// mayFinish allows an object without finalizers to be removed; nil allows it always.
	mayFinish func(obj runtime.Object) bool
	// hold reports whether an object that is to be deleted has to wait for something other than
	// a grace period or finalizers. It may change obj, and marks it as going.
	hold func(obj runtime.Object) bool
	// gracefully decides about an object that is to be deleted: it may set the grace period in
	// options, and returns whether there is one.
	gracefully func(rq *request, obj runtime.Object, options *metav1.DeleteOptions) bool

	// looseFinalizers takes finalizers without a domain, as kinds do whose metadata is not
	// validated by the rules of the core group.
	looseFinalizers bool
	// createOnUpdate allows a PUT to create an object.
	createOnUpdate bool
	// needsVersion refuses an update without a resource version.
	needsVersion bool
	// generation counts the changes of everything but metadata and status.
	generation bool
	// returnsDeleted answers a deletion with the object and not with a Status.
	returnsDeleted bool
	// orphans leaves dependents alone unless a deletion says otherwise.
	orphans bool
	// keepsStatus lets the status of a new object be what the client sends.
	keepsStatus bool
	// unvalidated says that nothing is validated but metadata.
	unvalidated bool
	// noGarbage keeps the finalizers of garbage collection off.
	noGarbage bool
}

func (s *strategy) setDefaults(obj runtime.Object) {
	if s.defaults != nil {
		s.defaults(obj)
	}
}

// pathName says what keeps a name from being an element of a path.
func pathName(name string, prefix bool) []string {
	if prefix {
		return path.IsValidPathSegmentPrefix(name)
	}
	return path.IsValidPathSegmentName(name)
}
