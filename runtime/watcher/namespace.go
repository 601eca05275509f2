package watcher

// In returns an engine with the options of e for one namespace of what e watches. It has a state
// of its own.
func (e *Engine) In(namespace string) *Engine {
	in := &Engine{endpoint: e.endpoint.In(namespace), opts: e.opts, invalid: e.invalid}
	in.latest.Store(in.newStatus())
	return in
}
