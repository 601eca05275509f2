package kube

import (
	"context"
	"net/http"

	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status returns the requests of the status subresource: they change the status and nothing
// else. A kind without that subresource answers with [ErrNotFound].
func (a API[K]) Status() Status[K] { return Status[K](a) }

// Status is the requests of the status subresource of kind K. See [API.Status].
type Status[K any] struct{ endpoint Endpoint }

// Get reads the object by its status subresource.
func (s Status[K]) Get(ctx context.Context, name string) (*K, error) {
	obj := new(K)
	return result(obj, s.endpoint.get(ctx, name, "status", s.endpoint.self(), nil, obj))
}

// Replace writes the status of obj. See [API.Replace].
func (s Status[K]) Replace(ctx context.Context, obj *K, opts *ReplaceOptions) (*K, error) {
	out := new(K)
	return result(out, s.endpoint.replace(ctx, "", "status", obj, s.endpoint.self(), opts, out))
}

// Patch changes the status of the object called name. See [API.Patch].
func (s Status[K]) Patch(ctx context.Context, name string, patch Patch, opts *PatchOptions) (*K, error) {
	out := new(K)
	return result(out, s.endpoint.patch(ctx, name, "status", patch, opts, s.endpoint.self(), out))
}

// Apply makes the status fields that are set in obj true. The object has to exist. See
// [API.Apply], and [resource.Object.WithStatus] for an object that holds nothing but a status.
func (s Status[K]) Apply(ctx context.Context, obj *K, fieldManager string, opts *ApplyOptions) (*K, error) {
	out := new(K)
	return result(out, s.endpoint.apply(ctx, "", "status", obj, s.endpoint.self(), fieldManager, opts, out))
}

// Scale is how many replicas an object has and should have: autoscaling/v1 Scale, which every
// kind with a scale subresource speaks. The type is written out here so that a program that
// scales does not link the whole of autoscaling/v1.
type Scale = resource.Object[ScaleSpec, ScaleStatus]

// ScaleSpec is the wanted scale.
type ScaleSpec struct {
	// Replicas is the wanted number of instances.
	Replicas int32 `json:"replicas"`
}

// ScaleStatus is the observed scale.
type ScaleStatus struct {
	// Replicas is the observed number of instances.
	Replicas int32 `json:"replicas"`
	// Selector selects the pods that are counted, as a label selector in text form.
	Selector string `json:"selector,omitempty"`
}

// Scale returns the requests of the scale subresource. A kind without one answers with
// [ErrNotFound].
func (a API[K]) Scale() Subresource[Scale] {
	return Subresource[Scale]{a.endpoint, &resource.SubresourceDescriptor{
		Name: "scale",
		Body: resource.Info{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	}}
}

// Sub returns the requests of a subresource of K, such as core.PodEviction. A subresource of
// another kind does not compile.
func (a API[K]) Sub[B any](subresource resource.Subresource[K, B]) Subresource[B] {
	return Subresource[B]{a.endpoint, subresource.Descriptor()}
}

// Subresource is the requests of one subresource, whose body has the Go type B. [API.Sub] and
// [API.Scale] make one. The errors are those of the same methods of [API]. A body that has metadata
// without a name is sent with that of the object, which API servers want; it is not changed itself.
type Subresource[B any] struct {
	endpoint   Endpoint
	descriptor *resource.SubresourceDescriptor
}

// Get reads the subresource of the object called name.
func (s Subresource[B]) Get(ctx context.Context, name string) (*B, error) {
	body := new(B)
	return result(body, s.endpoint.get(ctx, name, s.descriptor.Name, bodyOf(s.descriptor), nil, body))
}

// Create posts body to the subresource of the object called name, as evictions, bindings and
// token requests are made. Where the server answers with a plain success and no object, as to
// an eviction, a shallow copy of body is returned.
func (s Subresource[B]) Create(ctx context.Context, name string, body *B, opts *CreateOptions) (*B, error) {
	out := new(B)
	isStatus, err := s.endpoint.createSub(ctx, name, s.descriptor, s.named(name, body), opts, out)
	if err == nil && isStatus {
		*out = *body
	}
	return result(out, err)
}

func (e Endpoint) createSub(ctx context.Context, name string, d *resource.SubresourceDescriptor, obj any, opts *CreateOptions, into any) (isStatus bool, err error) {
	r, err := e.object("create", http.MethodPost, name)
	r.subresource, r.accept = d.Name, e.acceptBody(d.Name, bodyOf(d))
	if err == nil {
		r.query, err = opts.query()
	}
	if err == nil {
		r.body, r.contentType, err = e.encode(obj, &d.Body)
	}
	if err != nil {
		return false, e.fail(r, err)
	}
	return e.exchangeOrStatus(ctx, r, bodyOf(d), into)
}

// named returns body with a name.
func (s Subresource[B]) named(name string, body *B) *B {
	if body == nil {
		return body
	}
	if meta, ok := any(body).(metav1.Object); !ok || meta.GetName() != "" {
		return body
	}
	copied := *body
	meta := any(&copied).(metav1.Object)
	meta.SetName(name)
	if meta.GetNamespace() == "" {
		meta.SetNamespace(s.endpoint.namespace)
	}
	return &copied
}

// Replace writes the subresource of the object called name.
func (s Subresource[B]) Replace(ctx context.Context, name string, body *B, opts *ReplaceOptions) (*B, error) {
	out := new(B)
	return result(out, s.endpoint.replace(ctx, name, s.descriptor.Name, s.named(name, body), bodyOf(s.descriptor), opts, out))
}

// Patch changes the subresource of the object called name.
func (s Subresource[B]) Patch(ctx context.Context, name string, patch Patch, opts *PatchOptions) (*B, error) {
	out := new(B)
	return result(out, s.endpoint.patch(ctx, name, s.descriptor.Name, patch, opts, bodyOf(s.descriptor), out))
}

// Apply makes the fields that are set in body true. See [API.Apply].
func (s Subresource[B]) Apply(ctx context.Context, name string, body *B, fieldManager string, opts *ApplyOptions) (*B, error) {
	out := new(B)
	return result(out, s.endpoint.apply(ctx, name, s.descriptor.Name, s.named(name, body), bodyOf(s.descriptor), fieldManager, opts, out))
}
