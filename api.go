package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-kube/kube/internal/codec"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// API is the requests of one kind, whose Go type is K, in one namespace or over all. It is a
// small value, free to copy, and safe for concurrent use. [Client.Namespaced],
// [Client.DefaultNamespace] and [Client.All] make one.
//
// Results are private copies. Built-in kinds travel as protobuf, others as JSON. Every error
// is an [*Error]; the reasons that a method is expected to meet are named there, beside which
// [ErrForbidden], [ErrUnauthorized] and the transport's errors are always possible. A call
// whose context has no deadline is bounded by [Config.Timeout].
type API[K any] struct{ endpoint Endpoint }

// Endpoint returns the untyped inside, for packages that work on any kind.
func (a API[K]) Endpoint() Endpoint { return a.endpoint }

// In returns the same kind in one namespace.
func (a API[K]) In(namespace string) API[K] { return API[K]{a.endpoint.In(namespace)} }

// Get reads the newest state of the object called name. It fails with [ErrNotFound] where
// there is none.
func (a API[K]) Get(ctx context.Context, name string) (*K, error) {
	return a.GetWith(ctx, name, nil)
}

// GetWith is Get with options.
func (a API[K]) GetWith(ctx context.Context, name string, opts *GetOptions) (*K, error) {
	obj := new(K)
	return result(obj, a.endpoint.get(ctx, name, "", a.endpoint.self(), opts, obj))
}

// Lookup reads the object called name, and says whether there is one. Its absence is not an
// error; a kind that the server does not serve is.
func (a API[K]) Lookup(ctx context.Context, name string) (obj *K, found bool, err error) {
	obj, err = a.Get(ctx, name)
	if isObjectNotFound(err) {
		return nil, false, nil
	}
	return obj, err == nil, err
}

// isObjectNotFound tells a missing object from a missing kind: for a path that it does not
// serve, the server has no Status that names an object.
func isObjectNotFound(err error) bool {
	status, ok := statusOf(err)
	if !ok || !apierrors.IsNotFound(err) || status.Details == nil || status.Details.Name == "" {
		return false
	}
	return !slices.ContainsFunc(status.Details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// Create stores a new object and returns it as the server keeps it, with defaults filled in.
// The name may be empty when metadata.generateName is set. It fails with [ErrAlreadyExists],
// and with [ErrInvalid] when the object breaks the rules of its kind. obj is not changed.
func (a API[K]) Create(ctx context.Context, obj *K, opts *CreateOptions) (*K, error) {
	out := new(K)
	return result(out, a.endpoint.create(ctx, obj, opts, out))
}

// Replace writes the whole object. With metadata.resourceVersion set, as in every object that
// was read, it fails with [ErrConflict] when the object has changed since; without, it
// overwrites. It fails with [ErrNotFound] and [ErrInvalid] too. obj is not changed.
//
// An object that came from a cache lacks managedFields, which the server keeps then, and
// kubectl's last-applied annotation, which a Replace would remove: use Apply or Patch on
// objects that people apply with kubectl.
func (a API[K]) Replace(ctx context.Context, obj *K, opts *ReplaceOptions) (*K, error) {
	out := new(K)
	return result(out, a.endpoint.replace(ctx, "", "", obj, a.endpoint.self(), opts, out))
}

// Patch changes the object called name. It fails with [ErrNotFound], [ErrInvalid] (a failed
// test step of a JSON patch among others) and [ErrConflict].
func (a API[K]) Patch(ctx context.Context, name string, patch Patch, opts *PatchOptions) (*K, error) {
	out := new(K)
	return result(out, a.endpoint.patch(ctx, name, "", patch, opts, a.endpoint.self(), out))
}

// Apply makes the fields that are set in obj true, creating the object where there is none,
// and leaves every other field alone (server-side apply). fieldManager owns the fields that
// are sent; a field that it owned and no longer sends is removed.
//
// Only what is set is sent. In built-in types a zero field counts as not set, whatever its
// tag; in other types the json tags rule, so that a bool without omitempty is sent as false.
// Explicit zeroes of built-in types are named in [ApplyOptions.Zero]. apiVersion and kind are
// filled in. obj is not changed. See [ApplyOptions.FailOnConflict] for conflicts with other
// managers.
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/
func (a API[K]) Apply(ctx context.Context, obj *K, fieldManager string, opts *ApplyOptions) (*K, error) {
	out := new(K)
	return result(out, a.endpoint.apply(ctx, "", "", obj, a.endpoint.self(), fieldManager, opts, out))
}

// ApplyConfiguration is [API.Apply] for the apply configurations that client-go and
// controller-gen generate. It is sent as it is; ApplyOptions.Zero has no use here.
func (a API[K]) ApplyConfiguration(ctx context.Context, config runtime.ApplyConfiguration, fieldManager string, opts *ApplyOptions) (*K, error) {
	out := new(K)
	return result(out, a.endpoint.applyConfiguration(ctx, config, fieldManager, opts, out))
}

// Delete deletes the object called name. An object with finalizers, or whose end takes time,
// is only marked with a deletionTimestamp, and still exists when Delete returns. It fails
// with [ErrNotFound], and with [ErrConflict] when a precondition does not hold.
func (a API[K]) Delete(ctx context.Context, name string, opts *DeleteOptions) error {
	return a.endpoint.delete(ctx, name, opts)
}

// DeleteCollection deletes every object that list selects; nil selects all of the API's
// namespace, or of the cluster.
func (a API[K]) DeleteCollection(ctx context.Context, list *ListOptions, opts *DeleteOptions) error {
	return a.endpoint.deleteCollection(ctx, list, opts)
}

// result returns obj, or nil where there is an error.
func result[K any](obj *K, err error) (*K, error) {
	if err != nil {
		return nil, err
	}
	return obj, nil
}

func (e Endpoint) get(ctx context.Context, name, subresource string, body payload, opts *GetOptions, into any) error {
	r, err := e.object("get", http.MethodGet, name)
	r.subresource = subresource
	if err != nil {
		return e.fail(r, err)
	}
	r.query, r.accept = url.Values{}, e.acceptBody(subresource, body)
	if opts != nil {
		setIf(r.query, "resourceVersion", opts.ResourceVersion)
	}
	return e.exchange(ctx, r, body, into)
}

// exchange sends r and decodes the answer, which has to be an object, into into.
func (e Endpoint) exchange(ctx context.Context, r *request, kind payload, into any) error {
	isStatus, err := e.exchangeOrStatus(ctx, r, kind, into)
	if err == nil && isStatus {
		err = e.fail(r, errNotOneObject)
	}
	return err
}

func (e Endpoint) exchangeOrStatus(ctx context.Context, r *request, kind payload, into any) (isStatus bool, err error) {
	resp, err := e.send(ctx, r)
	if err != nil {
		return false, e.fail(r, err)
	}
	isStatus, err = decode(resp, kind, into)
	if err == nil {
		e.wrote(ctx, r, kind, into, isStatus)
	}
	return isStatus, e.fail(r, err)
}

func (e Endpoint) create(ctx context.Context, obj any, opts *CreateOptions, into any) error {
	meta := obj.(metav1.Object)
	target, err := e.forObject(meta)
	r, _ := target.collection("create", http.MethodPost)
	if err == nil {
		r.query, err = opts.query()
	}
	if err == nil && meta.GetName() == "" && meta.GetGenerateName() == "" && e.isStored() {
		err = errors.New("the object has neither a name nor a generateName")
	}
	if err == nil && e.kind.MetadataOnly {
		err = errMetadataWrite
	}
	if err == nil {
		r.body, r.contentType, err = e.encode(obj, &e.kind.Info)
	}
	r.accept = e.accept(asMetadata)
	if err != nil {
		return e.fail(r, err)
	}
	return e.exchange(ctx, r, e.self(), into)
}

// isStored reports whether objects of the kind are kept by the server, and so need names. Those that
// cannot be read back, such as a SubjectAccessReview, are not. Where the verbs are not known, the
// server says.
func (e Endpoint) isStored() bool { return slices.Contains(e.kind.Verbs, "get") }

var errMetadataWrite = errors.New("an object of which only the metadata is known cannot be written whole; use Patch or Apply, or the kind's full descriptor")

// replace writes obj, or the body obj of a subresource. name is empty where obj names itself.
func (e Endpoint) replace(ctx context.Context, name, subresource string, obj any, body payload, opts *ReplaceOptions, into any) error {
	r, err := e.write("update", http.MethodPut, name, subresource, obj, body)
	if err == nil {
		r.query, err = opts.query()
	}
	if err == nil && e.kind.MetadataOnly {
		err = errMetadataWrite
	}
	if err == nil && e.kind.Partial && (subresource == "" || subresource == "status") {
		err = errPartialReplace
	}
	if err == nil {
		r.body, r.contentType, err = e.encode(obj, body.Info)
	}
	if err != nil {
		return e.fail(r, err)
	}
	return e.exchange(ctx, r, body, into)
}

var errPartialReplace = errors.New("replacing an object by a partial type (resource.Partial) would remove the fields that the type lacks; use Patch or Apply, or the kind's full descriptor")

// write starts a request that writes obj by name.
func (e Endpoint) write(verb, method, name, subresource string, obj any, body payload) (*request, error) {
	target := e
	err := e.misuse
	if meta, ok := obj.(metav1.Object); ok && name == "" {
		name = meta.GetName()
		target, err = e.forObject(meta)
	}
	r, objErr := target.object(verb, method, name)
	if err == nil {
		err = objErr
	}
	r.subresource, r.accept = subresource, e.acceptBody(subresource, body)
	return r, err
}

func (e Endpoint) patch(ctx context.Context, name, subresource string, patch Patch, opts *PatchOptions, body payload, into any) error {
	r, err := e.object("patch", http.MethodPatch, name)
	r.subresource, r.accept = subresource, e.acceptBody(subresource, body)
	if err == nil && patch.err == nil && patch.contentType == "" {
		err = errors.New("the patch is empty; make one with MergePatch, StrategicPatch or JSONPatch")
	}
	if err == nil {
		err = patch.err
	}
	if err == nil {
		r.query, err = opts.query()
	}
	if err != nil {
		return e.fail(r, err)
	}
	r.body, r.contentType = patch.body, string(patch.contentType)
	return e.exchange(ctx, r, body, into)
}

func (e Endpoint) apply(ctx context.Context, name, subresource string, obj any, body payload, fieldManager string, opts *ApplyOptions, into any) error {
	r, err := e.write("apply", http.MethodPatch, name, subresource, obj, body)
	if err == nil {
		r.query, err = opts.query(fieldManager)
	}
	if err == nil {
		var zero []string
		if opts != nil {
			zero = opts.Zero
		}
		r.body, err = codec.EncodeApply(obj, body.APIVersion(), body.Kind, zero)
	}
	if err != nil {
		return e.fail(r, err)
	}
	r.contentType = string(types.ApplyPatchType)
	return e.exchange(ctx, r, body, into)
}

func (e Endpoint) applyConfiguration(ctx context.Context, config any, fieldManager string, opts *ApplyOptions, into any) error {
	r := &request{verb: "apply", method: http.MethodPatch}
	body, err := codec.EncodeApply(config, e.kind.APIVersion(), e.kind.Kind, nil)
	if err != nil {
		return e.fail(r, err)
	}
	var named metav1.PartialObjectMetadata
	if err := codec.DecodeJSON(body, &named); err != nil {
		return e.fail(r, fmt.Errorf("reading the name in the apply configuration: %w", err))
	}
	r, err = e.write("apply", http.MethodPatch, "", "", &named, e.self())
	if err == nil {
		r.query, err = opts.query(fieldManager)
	}
	if err != nil {
		return e.fail(r, err)
	}
	r.body, r.contentType = body, string(types.ApplyPatchType)
	return e.exchange(ctx, r, e.self(), into)
}

func (e Endpoint) delete(ctx context.Context, name string, opts *DeleteOptions) error {
	r, err := e.object("delete", http.MethodDelete, name)
	r.accept = e.accept(asMetadata)
	return e.sendDelete(ctx, r, opts, err)
}

func (e Endpoint) deleteCollection(ctx context.Context, list *ListOptions, opts *DeleteOptions) error {
	r, err := e.collection("deletecollection", http.MethodDelete)
	if err == nil {
		r.query, err = list.query()
	}
	r.accept = e.accept(asMetaList)
	return e.sendDelete(ctx, r, opts, err)
}

// sendDelete sends a deletion. The answer, a Status or what was deleted, is read for those who
// observe writes.
func (e Endpoint) sendDelete(ctx context.Context, r *request, opts *DeleteOptions, err error) error {
	if err != nil {
		return e.fail(r, err)
	}
	body, err := opts.body()
	if err == nil && body != nil {
		r.body, err = codec.EncodeJSON(body)
		r.contentType = mediaJSON
	}
	if err != nil {
		return e.fail(r, err)
	}
	resp, err := e.send(ctx, r)
	if err != nil {
		return e.fail(r, err)
	}
	return e.fail(r, e.readDeleted(ctx, r, opts != nil && opts.DryRun, resp))
}
