package controller

import (
	"errors"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// ownNamespaces returns of which namespaces the controller's own objects are; nil is all that its API
// spans.
func (e *engine) ownNamespaces() reflector.Namespaces {
	if e.endpoint.Descriptor().Scope == resource.ClusterScoped {
		return nil
	}
	return e.opts.Namespaces
}

// namespacesOf is ownNamespaces for a related kind.
func (e *engine) namespacesOf(related kube.Endpoint) reflector.Namespaces {
	if related.Descriptor().Scope == resource.ClusterScoped || related.Namespace() != "" {
		return nil
	}
	return e.opts.Namespaces
}

// patience is how long a related kind waits for all of its namespaces: less than the controller waits for
// the kind, so that it has begun when the controller does.
func (e *engine) patience() time.Duration { return e.opts.SyncTimeout / 10 * 9 }

// takeNamespaces has the controller be of the namespaces that its objects are of, which come from a
// reflector.
func (e *engine) takeNamespaces(of reflector.Namespaces) {
	switch {
	case e.endpoint.Descriptor().Scope == resource.ClusterScoped:
	case e.opts.Namespaces == nil:
		e.opts.Namespaces = of
	case e.opts.Namespaces != of && e.invalid == nil:
		e.invalid = errors.New("Options.Namespaces is set, and is not what the reflector has that the controller is made from: leave it empty, or give both the same")
	}
}
