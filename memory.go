package kube

import "sync"

// memory is what a client has learned about its server.
type memory struct {
	mu sync.Mutex
	// noStreamingLists holds the kinds (plural.version.group) whose streaming lists did not
	// work, so that the next watcher does not wait for one.
	noStreamingLists map[string]bool
}

// StreamingListsFailed reports whether a streaming list of this kind was tried through this
// client before and did not work. Watchers use it to go straight to list and watch.
func (e Endpoint) StreamingListsFailed() bool {
	m := &e.client.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.noStreamingLists[e.kind.Info.String()]
}

// SetStreamingListsFailed remembers whether streaming lists of this kind work.
func (e Endpoint) SetStreamingListsFailed(failed bool) {
	m := &e.client.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noStreamingLists == nil {
		m.noStreamingLists = map[string]bool{}
	}
	m.noStreamingLists[e.kind.Info.String()] = failed
}
