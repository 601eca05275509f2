// Package empty has no kinds.
package empty
