// Package cel has tests that have real API servers and package crd/cel judge the same objects by
// the same schemas and rules, and compare their verdicts.
package cel
