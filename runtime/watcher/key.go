package watcher

import (
	"fmt"

	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/fields"
)

// Key says what an engine watches, and how. Engines of one client whose keys are equal get the same
// events, so that one of them is enough: whether objects come as JSON or as protobuf has no part in it,
// as either decodes into what the other does. It is a value to compare.
type Key struct {
	what, how string
	metadata  bool // alone
}

// Key returns the key of the engine. OnError and Logger have no part in it: they say who is told.
func (e *Engine) Key() Key {
	kind := e.endpoint.Descriptor()
	how := e.opts
	how.OnError, how.Logger = nil, nil
	how.Labels, how.Fields = canonical(how.Labels, how.Fields)
	return Key{
		what:     fmt.Sprintf("%s %s %s %s", kind.Info, kind.Kind, kind.Scope, e.endpoint.Namespace()),
		how:      fmt.Sprintf("%+v", how),
		metadata: kind.MetadataOnly,
	}
}

// Serves reports whether what comes from an engine with key k does for one with key other: the same,
// or whole objects where other asks for their metadata.
func (k Key) Serves(other Key) bool { return k == other || k.Whole(other) }

// Whole reports whether an engine with key k gets whole what one with key other gets the metadata of.
func (k Key) Whole(other Key) bool {
	return other.metadata && !k.metadata && k.what == other.what && k.how == other.how
}

// canonical returns selectors in the form that all of the same meaning have, as far as that can
// be told.
func canonical(labelSelector, fieldSelector string) (string, string) {
	if s, err := resource.ParseSelector(labelSelector); err == nil {
		labelSelector = s.String()
	}
	if s, err := fields.ParseSelector(fieldSelector); err == nil {
		fieldSelector = s.String()
	}
	return labelSelector, fieldSelector
}
