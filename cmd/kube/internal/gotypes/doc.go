// Package gotypes writes Go types for custom resource definitions.
//
// A schema is turned into nodes, and these into Go types: structs and enums that are declared, types of
// Kubernetes that have the same fields, and plain types for the rest. What the schema says beside that
// goes into schema tags and methods, in the words of package crd. While doing so the package follows
// what package crd will derive from the types; where that differs from the schema, the difference is
// written beside the types, as a patch. Deriving the definition from the types therefore gives it back.
//
//	build.go    schema to nodes and declarations
//	known.go    types of Kubernetes, found by the shape of their schema
//	words.go    what a schema says, as words of schema tags
//	derive.go   what package crd derives from nodes
//	version.go  the options and the patch of a version
//	write.go    Go source
package gotypes
