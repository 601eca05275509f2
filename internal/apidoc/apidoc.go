// Package apidoc knows what of a comment in Go describes an API to its readers. What derives
// definitions from types needs that, and what writes such types.
package apidoc

import (
	"slices"
	"strings"
)

// Description returns the part of a comment, given as its text, that is for readers of the API, by the
// conventions of Kubernetes' own generators: without markers (lines that begin with +) and TODO
// lines, which stay within code, and up to a line of dashes. Blank lines at the end are gone, and of
// several one stays.
func Description(text string) string {
	var lines []string
	inCode := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if !inCode && strings.HasPrefix(line, "---") {
			break
		}
		if inCode || !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "TODO") {
			lines = append(lines, line)
		}
	}
	blank := func(line string) bool { return line == "" }
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	lines = slices.CompactFunc(lines, func(a, b string) bool { return blank(a) && blank(b) })
	return strings.Join(lines, "\n")
}
