// Package resource says what a kind is: descriptors, typed references, object types,
// selectors, owner references and objects that are still the bytes the server sent. It is
// the ground that the other packages of kube stand on, and all that a package of API types
// has to import.
package resource
