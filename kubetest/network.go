package kubetest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// network is the way into a server: in memory, or by a real listener. It knows every open
// connection, so that all of them can be cut, and can be down.
type network struct {
	net.Listener

	mu   sync.Mutex
	down bool
	open map[net.Conn]struct{} // the server's ends
}

func newNetwork(l net.Listener) *network {
	return &network{Listener: l, open: map[net.Conn]struct{}{}}
}

// Accept implements net.Listener. While the network is down, connections are closed at once.
func (n *network) Accept() (net.Conn, error) {
	for {
		c, err := n.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tracked := &networkConn{Conn: c, network: n}
		if n.track(tracked) {
			return tracked, nil
		}
		c.Close()
	}
}

func (n *network) track(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.down {
		n.open[c] = struct{}{}
	}
	return !n.down
}

// isDown reports whether nobody can connect.
func (n *network) isDown() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.down
}

// setDown lets nobody connect, or everybody again.
func (n *network) setDown(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
}

// cut closes all connections.
func (n *network) cut() {
	n.mu.Lock()
	open := n.open
	n.open = map[net.Conn]struct{}{}
	n.mu.Unlock()
	for c := range open {
		c.Close()
	}
}

// networkConn is the server's end of a connection.
type networkConn struct {
	net.Conn
	network *network
}

func (c *networkConn) Close() error {
	c.network.mu.Lock()
	delete(c.network.open, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}

// memory is a listener in memory. It has no goroutine and no file, and so works within a
// bubble of testing/synctest.
type memory struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newMemory() *memory {
	return &memory{incoming: make(chan net.Conn), closed: make(chan struct{})}
}

// dial connects to the listener.
func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.incoming <- server:
		return client, nil
	case <-m.closed:
		return nil, refused(syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, refused(ctx.Err())
	}
}

func refused(err error) error { return &net.OpError{Op: "dial", Net: "memory", Err: err} }

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.incoming:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Dials are refused from then on.
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return memoryAddress{} }

type memoryAddress struct{}

func (memoryAddress) Network() string { return "memory" }
func (memoryAddress) String() string  { return "memory" }
