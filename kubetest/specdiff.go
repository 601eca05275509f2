package kubetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// specDiff returns the lines in which two specs differ, as a real server adds them to its refusal
// of a change. Where there are several differences, a real server shows them apart.
func specDiff(was, now any) string {
	const context = 3
	a, b := linesOf(was), linesOf(now)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	before, after := min(start, context), min(end, context)
	var text strings.Builder
	write := func(mark string, lines []string) {
		for _, line := range lines {
			text.WriteString(mark + line + "\n")
		}
	}
	fmt.Fprintf(&text, "@@ -%d,%d +%d,%d @@\n", start-before+1, len(a)-end-start+before+after, start-before+1, len(b)-end-start+before+after)
	write(" ", a[start-before:start])
	write("-", a[start:len(a)-end])
	write("+", b[start:len(b)-end])
	write(" ", a[len(a)-end:len(a)-end+after])
	return text.String()
}

func linesOf(spec any) []string {
	data, err := json.Marshal(internalValue{spec})
	var indented bytes.Buffer
	if err == nil {
		err = json.Indent(&indented, data, "", " ")
	}
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(indented.String(), "\n")
}
