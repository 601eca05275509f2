package watcher

import "github.com/go-kube/kube"

// In returns an engine with the options of e for one namespace of what e watches. It has a state
// of its own.
func (e *Engine) In(namespace string) *Engine { return e.Of(e.endpoint.In(namespace)) }

// Of returns an engine with the options of e for another endpoint. It has a state of its own.
func (e *Engine) Of(endpoint kube.Endpoint) *Engine {
	of := &Engine{endpoint: endpoint, opts: e.opts, invalid: e.invalid}
	of.latest.Store(of.newStatus())
	return of
}
