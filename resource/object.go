package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is a custom resource made of a spec and a status. A kind is an alias of it:
//
//	type WebApp = resource.Object[WebAppSpec, WebAppStatus]
//
// It satisfies metav1.Object and runtime.Object, without generated code.
type Object[Spec, Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user asks for.
	Spec Spec `json:"spec"`
	// Status is what the controller saw; nil until it has written one.
	Status *Status `json:"status,omitempty"`
}

// New returns an object of kind with a name and a spec, ready to be created or applied.
func New[Spec, Status any](kind Kind[Object[Spec, Status]], name string, spec Spec) *Object[Spec, Status] {
	d := kind.Descriptor()
	return &Object[Spec, Status]{
		TypeMeta:   metav1.TypeMeta{APIVersion: d.APIVersion(), Kind: d.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       spec,
	}
}

// WithStatus returns a new object with the type, name and namespace of o and the given
// status, and nothing else: what an apply to the status subresource needs, so that nothing
// but the status becomes owned.
func (o *Object[Spec, Status]) WithStatus(status Status) *Object[Spec, Status] {
	return &Object[Spec, Status]{
		TypeMeta:   o.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Name: o.Name, Namespace: o.Namespace},
		Status:     &status,
	}
}

// DeepCopy returns a copy that shares nothing with o. Types with a DeepCopyInto method of
// their own are copied by it.
func (o *Object[Spec, Status]) DeepCopy() *Object[Spec, Status] {
	if o == nil {
		return nil
	}
	c := &Object[Spec, Status]{TypeMeta: o.TypeMeta}
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	deepCopyInto(&c.Spec, &o.Spec)
	deepCopyInto(&c.Status, &o.Status)
	return c
}

// DeepCopyObject implements runtime.Object.
func (o *Object[Spec, Status]) DeepCopyObject() runtime.Object {
	if o == nil {
		return nil
	}
	return o.DeepCopy()
}

// Metadata is an object of kind K of which only the metadata was read. The server sends it as
// PartialObjectMetadata; TypeMeta holds K's own apiVersion and kind once it is decoded.
type Metadata[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopy returns a copy that shares nothing with m.
func (m *Metadata[K]) DeepCopy() *Metadata[K] {
	if m == nil {
		return nil
	}
	c := &Metadata[K]{TypeMeta: m.TypeMeta}
	m.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return c
}

// DeepCopyObject implements runtime.Object.
func (m *Metadata[K]) DeepCopyObject() runtime.Object {
	if m == nil {
		return nil
	}
	return m.DeepCopy()
}

// Ref returns the ref of the object whose metadata this is.
func (m *Metadata[K]) Ref() Ref[K] { return Ref[K]{m.Namespace, m.Name} }

// unmarshalMetadata decodes the protobuf form of PartialObjectMetadata.
func (m *Metadata[K]) unmarshalMetadata(data []byte) error {
	var partial metav1.PartialObjectMetadata
	if err := partial.Unmarshal(data); err != nil {
		return err
	}
	m.ObjectMeta = partial.ObjectMeta
	return nil
}
