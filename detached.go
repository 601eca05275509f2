package kube

import (
	"fmt"
	"log/slog"

	"github.com/go-kube/kube/resource"
)

// Detached returns an endpoint of no server: every request to it is an error. It names the kind of a cache
// that is filled by something other than a watch, such as a file or a test. logger is that of its client, which is
// good for nothing else; nil discards.
func Detached[K any](kind resource.Kind[K], logger *slog.Logger) Endpoint {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	e := Endpoint{client: &Client{logger: logger, namespace: "default"}, kind: kind.Descriptor()}
	e.misuse = e.noServer()
	return e
}

func (e Endpoint) noServer() error {
	return fmt.Errorf("the %s come from no server: the cache is filled by the program itself, and there is nothing to send requests to", e.kind.Plural)
}

// detached reports whether there is no server.
func (e Endpoint) detached() bool { return e.client.transport == nil }
