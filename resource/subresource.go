package resource

import "fmt"

// Subresource describes what can be addressed below objects of kind K, with bodies of type
// B: Subresource[corev1.Pod, policyv1.Eviction] is POST …/pods/NAME/eviction. A subresource
// of Pods cannot be used on Nodes: that does not compile.
type Subresource[K, B any] struct{ d *SubresourceDescriptor }

// SubresourceDescriptor is the untyped inside of a [Subresource] or a [Connection].
type SubresourceDescriptor struct {
	// Name is the last element of the path, such as eviction.
	Name string
	// Body is the identity of the kind of the body, such as policy/v1 Eviction; for a
	// connection, of its options. Group, Version, Kind, Verbs and Protobuf are used.
	Body Info

	unmarshal Unmarshal
}

// DecodeProtobuf decodes data, a protobuf message without an envelope, into the new body that
// into points to.
func (s *SubresourceDescriptor) DecodeProtobuf(data []byte, into any) error {
	return s.unmarshal.decode(s.Body.Kind, data, into)
}

// DefineSubresource describes the subresource called name of kind K with bodies of type B.
// Of body, Group, Version, Kind, Verbs and Protobuf are used. Using a descriptor without a
// name, or with a body without a version and a kind, panics.
func DefineSubresource[K, B any](name string, body Info) Subresource[K, B] {
	return Subresource[K, B]{&SubresourceDescriptor{Name: name, Body: body}}
}

// BuiltinSubresource is [DefineSubresource] for bodies that have a protobuf form, which
// unmarshal reads.
func BuiltinSubresource[K, B any](name string, body Info, unmarshal Unmarshal) Subresource[K, B] {
	return Subresource[K, B]{&SubresourceDescriptor{Name: name, Body: body, unmarshal: unmarshal}}
}

// Descriptor returns the untyped description: the same pointer each time.
func (s Subresource[K, B]) Descriptor() *SubresourceDescriptor { return s.d.checked() }

// Connection describes a subresource of kind K that is a connection and not an object: a
// stream (log), streams in both directions (exec, attach, portforward) or another server's
// HTTP (proxy). Options of type O go into the query; there is no body to encode, so a
// connection is not accepted where a [Subresource] is.
type Connection[K, O any] struct{ d *SubresourceDescriptor }

// DefineConnection describes the connection called name of kind K with options of type O. Of
// options, Group, Version, Kind and Verbs are used. Using a descriptor without a name, or
// with options without a version and a kind, panics.
func DefineConnection[K, O any](name string, options Info) Connection[K, O] {
	return Connection[K, O]{&SubresourceDescriptor{Name: name, Body: options}}
}

// Descriptor returns the untyped description: the same pointer each time.
func (c Connection[K, O]) Descriptor() *SubresourceDescriptor { return c.d.checked() }

func (s *SubresourceDescriptor) checked() *SubresourceDescriptor {
	if !isName(s.Name) {
		panic(fmt.Sprintf("resource: %q is no name of a subresource: want letters, digits, '-' and '.'", s.Name))
	}
	if err := s.Body.Validate(); err != nil {
		panic(fmt.Sprintf("resource: subresource %s: %v", s.Name, err))
	}
	return s
}
