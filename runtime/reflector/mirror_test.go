package reflector_test

import (
	"context"
	"maps"
	"sync"

	"github.com/go-kube/kube/runtime/reflector"
)

// mirror is what one knows who only follows the changes of a reflector.
type mirror struct {
	reflector *reflector.Reflector[cm]

	mu    sync.Mutex
	known map[string]string // name: uid@version
}

func newMirror(r *reflector.Reflector[cm]) *mirror {
	return &mirror{reflector: r, known: map[string]string{}}
}

func (m *mirror) follow(ctx context.Context) {
	for c := range m.reflector.Changes(ctx) {
		m.mu.Lock()
		if c.Deleted {
			delete(m.known, c.Object.Name())
		} else {
			m.known[c.Object.Name()] = string(c.Object.UID()) + "@" + c.Object.ResourceVersion()
		}
		m.mu.Unlock()
	}
}

func (m *mirror) state() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.known)
}
