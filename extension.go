package kube

import "reflect"

// Extension returns the one value of type T that belongs to the client: its zero value at the
// first call, and the same pointer ever after. Packages that build on the client keep there what
// their users are to share, such as the caches that the controllers of a process have in common, in
// place of global state; T is a type of their own, which keeps others out. It is safe for
// concurrent use; what T holds has to be as well.
func (c *Client) Extension[T any]() *T {
	key := reflect.TypeFor[T]()
	known, ok := c.extensions.Load(key)
	if !ok {
		known, _ = c.extensions.LoadOrStore(key, new(T))
	}
	return known.(*T)
}
