package apitest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Network is a network in memory with one listener. It implements net.Listener.
type Network struct {
	incoming chan net.Conn
	closed   chan struct{}

	mu      sync.Mutex
	refuse  bool
	dials   int
	servers map[net.Conn]struct{} // the servers' ends of the open connections
}

func newNetwork() *Network {
	return &Network{
		incoming: make(chan net.Conn),
		closed:   make(chan struct{}),
		servers:  map[net.Conn]struct{}{},
	}
}

// DialContext connects to the listener, whatever the address.
func (n *Network) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if n.dial() {
		return nil, refused()
	}
	client, server := net.Pipe()
	tracked := &conn{Conn: server, network: n}
	n.track(tracked, true)
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
	return nil, refused()
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
}

// dial counts a dial and reports whether it is refused.
func (n *Network) dial() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dials++
	return n.refuse
}

// Dials returns how often a connection was asked for, refused ones included.
func (n *Network) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Refuse makes dials fail with "connection refused", as if nothing listened, or lets them
// work again. Open connections stay.
func (n *Network) Refuse(refuse bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuse = refuse
}

// Cut closes all open connections, as a crash of the server does.
func (n *Network) Cut() {
	n.mu.Lock()
	var open []net.Conn
	for c := range n.servers {
		open = append(open, c)
	}
	n.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

func (n *Network) track(c net.Conn, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if open {
		n.servers[c] = struct{}{}
	} else {
		delete(n.servers, c)
	}
}

// Accept implements net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.incoming:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Dials are refused from then on.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (n *Network) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "memory" }

// conn is the server's end of a connection.
type conn struct {
	net.Conn
	network *Network
}

func (c *conn) Close() error {
	c.network.track(c, false)
	return c.Conn.Close()
}
