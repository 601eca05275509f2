package watcher

import "github.com/go-kube/kube"

// Endpoint returns what is watched.
func (e *Engine) Endpoint() kube.Endpoint { return e.endpoint }

// Selectors returns the label and the field selector of the watch, each empty where there is
// none.
func (e *Engine) Selectors() (labels, fields string) { return e.opts.Labels, e.opts.Fields }
