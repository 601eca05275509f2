package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// readAllowed reads the exceptions. A line is the name of a suite, a tab, and the name of a
// spec; the lines above it that start with # are the reason, and there has to be one.
func readAllowed(path string) (map[string]bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	allowed, reason := map[string]bool{}, false
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		case !strings.Contains(line, "\t"):
			return nil, fmt.Errorf("%s:%d: want SUITE, a tab, and the name of a spec: %q", path, number, line)
		case !reason:
			return nil, fmt.Errorf("%s:%d: an exception needs a reason in a comment above it", path, number)
		default:
			allowed[line] = true
		}
	}
	return allowed, nil
}

// judge compares what happened with what has to happen.
func judge(out io.Writer, results []*result, allowed map[string]bool, whole bool) error {
	problems, used := 0, map[string]bool{}
	for _, r := range results {
		for _, name := range slices.Sorted(maps.Keys(r.specs)) {
			exception := r.suite.name + "\t" + name
			switch text := r.problem(name); {
			case text == "":
			case allowed[exception]:
				used[exception] = true
			default:
				problems++
				fmt.Fprintf(out, "pkg/%s: %s: %s\n", r.suite.name, name, text)
			}
		}
		if passed, all := r.passed("kubetest"); all > 0 && passed < r.suite.want-r.allowances(allowed) {
			problems++
			fmt.Fprintf(out, "pkg/%s: %d specs pass, want %d\n", r.suite.name, passed, r.suite.want)
		}
	}
	for exception := range allowed {
		if whole && !used[exception] && len(servers(results)) == 2 {
			problems++
			fmt.Fprintf(out, "allowed.txt: no longer needed: %q\n", exception)
		}
	}
	if problems > 0 {
		return errDiffers
	}
	return nil
}

// problem says what is wrong with a spec, empty if nothing is. Without a real server beside it,
// any failure is wrong.
func (r *result) problem(name string) string {
	k, ran := r.specs[name]["kubetest"]
	real, compared := r.specs[name]["real"]
	switch {
	case !ran || k.passed() || k.State == "skipped":
		return ""
	case compared && !real.passed():
		return ""
	}
	return "fails against kubetest"
}

// allowances counts the exceptions of a suite.
func (r *result) allowances(allowed map[string]bool) int {
	n := 0
	for exception := range allowed {
		if strings.HasPrefix(exception, r.suite.name+"\t") {
			n++
		}
	}
	return n
}
