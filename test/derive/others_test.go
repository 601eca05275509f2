//go:build pinned

package derive

// others are not looked at with other modules than those of go.mod, nor built.
var others []project
