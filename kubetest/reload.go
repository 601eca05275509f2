package kubetest

import "k8s.io/apimachinery/pkg/runtime"

// reload replaces the content of every object by what f makes of a copy of it. That is no
// change: versions stay what they are. Watches end, and what was before cannot be read any
// more, as when a real server reads objects again under another definition.
func (t *table) reload(f func(runtime.Object) runtime.Object) {
	st := t.store
	st.mu.Lock()
	defer st.mu.Unlock()
	for t.history.len() > 0 {
		t.prune(t.history.drop())
	}
	t.history.floor = st.revision
	for _, s := range t.sorted {
		if o := s.now(); o != nil {
			s.versions = []state{{revision: o.revision, object: newObject(f(o.copy()), o.revision)}}
		}
	}
	signal(&t.over)
}

// end ends the watches of a table that is not served any more.
func (t *table) end() {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	signal(&t.over)
}

// ended returns a channel that is closed when the watches that are open now have to end.
func (t *table) ended() <-chan struct{} {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	return waiting(&t.over)
}
