package kube

import (
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
)

// lentObjects are options for bodies whose objects are kept by somebody else.
var lentObjects = &wire.Options{Transient: true}

// keeper makes what is handed over of the objects that are read from one body.
type keeper struct {
	options *wire.Options
	kind    *resource.Descriptor
	keep    func(lent *resource.Raw) *resource.Raw // nil: objects are copies already
	lender  resource.Lender
}

// keeper returns a keeper for a body that is read with options, or with those of caches when they are nil.
func (e Endpoint) keeper(options *wire.Options) *keeper {
	k := &keeper{options: options, kind: e.kind}
	if options == nil && e.keep != nil {
		k.options, k.keep = lentObjects, e.keep
	}
	return k
}

func (k *keeper) object(o wire.Object) *resource.Raw {
	if k.keep == nil {
		return resource.NewRaw(k.kind, o)
	}
	return k.keep(k.lender.Lend(k.kind, o))
}
