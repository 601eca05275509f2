package kubetest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// specDiff returns the lines in which two specs differ, as a real server adds them to its refusal
// of a change. There they are of its internal types, so the lines are not the same.
func specDiff(was, now any) string {
	a, b := linesOf(was), linesOf(now)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var text strings.Builder
	for _, line := range a[start : len(a)-end] {
		text.WriteString("- " + line + "\n")
	}
	for _, line := range b[start : len(b)-end] {
		text.WriteString("+ " + line + "\n")
	}
	return text.String()
}

func linesOf(value any) []string {
	data, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(string(data), "\n")
}
