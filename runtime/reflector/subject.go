package reflector

import "github.com/go-kube/kube"

// Endpoint returns what the reflector keeps.
func (r *Reflector[K]) Endpoint() kube.Endpoint { return r.from.own.engine.Endpoint().Keeping(nil) }

// Namespaces returns [Options.Namespaces].
func (r *Reflector[K]) Namespaces() Namespaces { return r.from.own.namespaces }

// Selectors returns the label and the field selector that limit what the reflector keeps, each
// empty where there is none.
func (r *Reflector[K]) Selectors() (labels, fields string) { return r.from.own.engine.Selectors() }
