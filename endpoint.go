package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Endpoint is the untyped inside of an [API]: the requests of one kind, in one namespace or
// over all. Watchers, caches and controllers stand on it, so that their code exists once and
// not once per kind. It is a small value and safe for concurrent use.
type Endpoint struct {
	client    *Client
	kind      *resource.Descriptor
	namespace string
	misuse    error                                  // of the value's construction, reported by each call
	keep      func(lent *resource.Raw) *resource.Raw // nil: all objects are copies
}

// Client returns the client that the requests go through.
func (e Endpoint) Client() *Client { return e.client }

// Descriptor returns the description of the kind.
func (e Endpoint) Descriptor() *resource.Descriptor { return e.kind }

// Namespace returns the namespace of the requests; empty over all namespaces and for
// cluster-scoped kinds.
func (e Endpoint) Namespace() string { return e.namespace }

// In returns the same kind in one namespace. For a cluster-scoped kind, and for an empty or
// malformed namespace, every call of the result is an error.
func (e Endpoint) In(namespace string) Endpoint {
	e.namespace, e.misuse = namespace, nil
	switch {
	case e.kind.Scope == resource.ClusterScoped:
		e.misuse = fmt.Errorf("%s is cluster-scoped and cannot be addressed in namespace %q; use client.All", e.kind.Kind, namespace)
	case namespace == "":
		e.misuse = fmt.Errorf("the namespace is empty; name one, or use client.All for every namespace")
	default:
		e.misuse = validSegment("namespace", namespace)
	}
	return e
}

// Keeping returns the same requests, of which ListPage and OpenWatch hand over what keep makes of the objects
// that come. keep is called with each of them in turn by the goroutine that reads. The object that it gets is
// lent: it is valid during the call, and keep returns its Clone, or Pack, or an equal one that it has already,
// which spares the copy. A nil keep clones. It is for caches, which have most of what a list says.
func (e Endpoint) Keeping(keep func(lent *resource.Raw) *resource.Raw) Endpoint {
	e.keep = keep
	return e
}

// Metadata returns the same requests with metadata only: the server sends
// PartialObjectMetadata in place of whole objects.
func (e Endpoint) Metadata() Endpoint {
	if !e.kind.MetadataOnly {
		d := *e.kind
		d.MetadataOnly = true
		e.kind = &d
	}
	return e
}

// validSegment refuses what cannot stand alone in a path: the server does not take it as a
// name either.
func validSegment(what, s string) error {
	if problems := content.IsPathSegmentName(s); len(problems) > 0 {
		return fmt.Errorf("the %s %q %s", what, s, strings.Join(problems, ", "))
	}
	return nil
}

// request is one request to an endpoint, not built yet.
type request struct {
	verb        string // Kubernetes' verb
	method      string
	namespace   string
	name        string
	subresource string
	query       url.Values
	accept      string
	contentType string
	body        []byte
	stream      bool // no default deadline
}

// rbacVerb is the verb that RBAC knows: an apply is a patch there.
func (r *request) rbacVerb() string {
	if r.verb == "apply" {
		return "patch"
	}
	return r.verb
}

// object returns a request for the object called name. collection returns one for all.
func (e Endpoint) object(verb, method, name string) (*request, error) {
	r := &request{verb: verb, method: method, namespace: e.namespace, name: name}
	switch {
	case e.misuse != nil:
		return r, e.misuse
	case name == "":
		return r, errors.New("the name is empty")
	case e.needsNamespace():
		return r, fmt.Errorf("this API spans all namespaces, and a name alone does not say which is meant; use client.Namespaced or API.In")
	}
	return r, validSegment("name", name)
}

func (e Endpoint) collection(verb, method string) (*request, error) {
	return &request{verb: verb, method: method, namespace: e.namespace}, e.misuse
}

func (e Endpoint) needsNamespace() bool {
	return e.namespace == "" && e.kind.Scope == resource.NamespaceScoped
}

// forObject returns the endpoint that a write of obj goes to: the API's namespace, else the
// one that obj names.
func (e Endpoint) forObject(obj metav1.Object) (Endpoint, error) {
	ns := obj.GetNamespace()
	switch {
	case e.misuse != nil:
		return e, e.misuse
	case e.kind.Scope == resource.ClusterScoped:
		if ns != "" {
			return e, fmt.Errorf("the object names namespace %q, and %s is cluster-scoped", ns, e.kind.Kind)
		}
		return e, nil
	case e.namespace == "" && ns == "":
		return e, fmt.Errorf("neither the API nor the object names a namespace; set metadata.namespace or use client.Namespaced")
	case e.namespace == "":
		e = e.In(ns)
		return e, e.misuse
	case ns != "" && ns != e.namespace:
		return e, fmt.Errorf("the object names namespace %q, and the API is of namespace %q", ns, e.namespace)
	}
	return e, nil
}

// url returns the address of a request. Names may hold what a path has to escape.
func (e Endpoint) url(r *request) *url.URL {
	var path strings.Builder
	path.Grow(len("/apis///namespaces////") + len(e.kind.Group) + len(e.kind.Version) + len(e.kind.Plural) +
		len(r.namespace) + len(r.name) + len(r.subresource))
	segment := func(s string) {
		if s != "" {
			path.WriteByte('/')
			path.WriteString(s)
		}
	}
	if e.kind.Group == "" {
		segment("api")
	} else {
		segment("apis")
	}
	segment(e.kind.Group)
	segment(e.kind.Version)
	if r.namespace != "" {
		segment("namespaces")
	}
	segment(r.namespace)
	segment(e.kind.Plural)
	segment(r.name)
	segment(r.subresource)
	u := e.client.at(path.String())
	u.RawQuery = r.query.Encode()
	return u
}

// fail wraps err with what the request was.
func (e Endpoint) fail(r *request, err error) error {
	if err == nil {
		return nil
	}
	res := e.kind.GroupResource().String()
	if r.subresource != "" {
		res += "/" + r.subresource
	}
	return &Error{Verb: r.verb, Resource: res, Namespace: r.namespace, Name: r.name, Err: err}
}

// send sends r and returns the response of a request that the server accepted. The caller
// closes the body, after which the returned context's resources are released.
func (e Endpoint) send(ctx context.Context, r *request) (*http.Response, error) {
	ctx = withRequestInfo(ctx, RequestInfo{
		Verb: r.rbacVerb(), Group: e.kind.Group, Version: e.kind.Version, Resource: e.kind.Plural,
		Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
	})
	cancel := context.CancelFunc(func() {})
	if _, bounded := ctx.Deadline(); !bounded && !r.stream && e.client.timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, e.client.timeout, noAnswerError(e.client.timeout))
	}
	resp, err := e.roundTrip(ctx, r)
	if err != nil {
		err = causeOf(ctx, err)
		cancel()
		return nil, err
	}
	resp.Body = &releasingBody{ReadCloser: resp.Body, release: cancel}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, e.refusal(r, resp)
	}
	return resp, nil
}

// noAnswerError is why a request ended that took as long as this. It is a text only when it is read: nearly
// no request needs it.
type noAnswerError time.Duration

func (d noAnswerError) Error() string {
	return fmt.Sprintf("no answer within %s (Config.Timeout)", time.Duration(d))
}

func (e Endpoint) roundTrip(ctx context.Context, r *request) (*http.Response, error) {
	req := (&http.Request{
		Method: r.method,
		URL:    e.url(r),
		Header: http.Header{"Accept": {r.accept}},
	}).WithContext(ctx)
	if r.body != nil {
		setBody(req, r.body)
		req.Header.Set("Content-Type", r.contentType)
	}
	return e.client.transport.unary.RoundTrip(req)
}

// causeOf prefers the reason why ctx ended to the transport's word for it.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return err
}

const (
	mediaJSON     = wire.MediaTypeJSON
	mediaProtobuf = wire.MediaTypeProtobuf
	asMetadata    = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asMetaList    = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	// dropManaged asks the server to leave managedFields out (KEP-5958, alpha in Kubernetes
	// 1.37). A server that does not know the parameter skips the media range that has it.
	dropManaged = ";drop=metadata.managedFields"
)

// accept lists the forms in which an object is wanted, best first.
func (e Endpoint) accept(as string) string {
	if e.kind.MetadataOnly {
		return mediaProtobuf + as + "," + mediaJSON + as + "," + mediaJSON
	}
	if e.kind.Protobuf {
		return mediaProtobuf + "," + mediaJSON
	}
	return mediaJSON
}

// acceptBody is accept for the body of a subresource: status answers with the object itself,
// the others with a kind of their own.
func (e Endpoint) acceptBody(subresource string, body payload) string {
	switch {
	case subresource == "" || subresource == "status":
		return e.accept(asMetadata)
	case body.Protobuf:
		return mediaProtobuf + "," + mediaJSON
	}
	return mediaJSON
}

// acceptDropped is accept for readers that have no use for managedFields.
func (e Endpoint) acceptDropped(as string) string {
	switch {
	case e.kind.MetadataOnly:
		return mediaProtobuf + as + dropManaged + "," + e.accept(as)
	case e.kind.Protobuf:
		return mediaProtobuf + dropManaged + "," + e.accept(as)
	}
	return mediaJSON + dropManaged + "," + mediaJSON
}

// encode returns the body for obj and its media type: protobuf for built-in kinds whose Go
// type can write it, JSON otherwise.
func (e Endpoint) encode(obj any, info *resource.Info) (body []byte, contentType string, err error) {
	if info.Protobuf && codec.SupportsProtobuf(obj) {
		body, err = codec.EncodeProtobuf(obj, info.APIVersion(), info.Kind)
		return body, mediaProtobuf, err
	}
	body, err = codec.EncodeObject(obj, info.APIVersion(), info.Kind)
	return body, mediaJSON, err
}
