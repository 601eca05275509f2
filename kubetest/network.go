package kubetest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// network is a network in memory with one listener, which implements net.Listener. It has no
// goroutine and no file, and so works within a bubble of testing/synctest.
type network struct {
	incoming chan net.Conn
	closed   chan struct{}

	mu    sync.Mutex
	ended bool
	open  map[net.Conn]struct{} // the servers' ends
}

func newNetwork() *network {
	return &network{incoming: make(chan net.Conn), closed: make(chan struct{}), open: map[net.Conn]struct{}{}}
}

// DialContext connects to the listener, whatever the address.
func (n *network) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	tracked := &networkConn{Conn: server, network: n}
	n.track(tracked)
	select {
	case n.incoming <- tracked:
		return client, nil
	case <-n.closed:
	case <-ctx.Done():
	}
	tracked.Close()
	if err := ctx.Err(); err != nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: err}
	}
	return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
}

func (n *network) track(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[c] = struct{}{}
}

// cut closes all connections.
func (n *network) cut() {
	n.mu.Lock()
	var open []net.Conn
	for c := range n.open {
		open = append(open, c)
	}
	n.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

// Accept implements net.Listener.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.incoming:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Dials are refused from then on.
func (n *network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.ended {
		n.ended = true
		close(n.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return memoryAddress{} }

type memoryAddress struct{}

func (memoryAddress) Network() string { return "memory" }
func (memoryAddress) String() string  { return "memory" }

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
