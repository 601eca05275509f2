package kubetest

import (
	"log/slog"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Options are the settings of a server. The zero value is ready to use.
type Options struct {
	// Objects exist from the start. They are created in this order as a client would create
	// them, so they are validated and get their defaults; status and generation are kept as
	// given. What has no namespace and needs one goes to "default"; namespaces that are named
	// and do not exist are created.
	Objects []runtime.Object
	// Logger receives a line for each request. Nil is silent.
	Logger *slog.Logger
}

// complete returns a copy with every default filled in.
func (o *Options) complete() *Options {
	c := Options{}
	if o != nil {
		c = *o
	}
	c.Objects = slices.Clone(c.Objects)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &c
}
