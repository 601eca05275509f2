// Package runtime_test checks that the lessons of others are kept.
package runtime_test

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/lessons.txt
var lessons string

// lesson is one item of testdata/lessons.txt.
type lesson struct {
	line   int
	title  string
	tests  map[string][]string // by folder, which is relative to the module
	excuse string
}

// read returns the lessons of a text by their headings.
func read(text string) (map[string][]*lesson, error) {
	all := map[string][]*lesson{}
	heading := ""
	var last *lesson
	for i, line := range strings.Split(text, "\n") {
		item, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			heading, last = line[3:], nil
		case !indented && heading == "":
			return nil, fmt.Errorf("line %d: %q is below no heading", i+1, line)
		case !indented:
			last = &lesson{line: i + 1, title: line, tests: map[string][]string{}}
			all[heading] = append(all[heading], last)
		case last == nil:
			return nil, fmt.Errorf("line %d: %q belongs to no item", i+1, line)
		case strings.HasPrefix(item, "- "):
			last.excuse = item[2:]
		default:
			folder, names, ok := strings.Cut(item, ": ")
			if !ok {
				return nil, fmt.Errorf("line %d: %q is no folder and its tests", i+1, line)
			}
			last.tests[folder] = append(last.tests[folder], strings.Fields(names)...)
		}
	}
	return all, nil
}

// testsOf returns the names of the tests in a folder of the module.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no test files, %v", folder, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

func TestLessonsHaveTests(t *testing.T) {
	all, err := read(lessons)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	for _, items := range all {
		for _, l := range items {
			if len(l.tests) == 0 && l.excuse == "" {
				t.Errorf("lessons.txt:%d: nothing shows %q", l.line, l.title)
			}
			for folder, names := range l.tests {
				if known[folder] == nil {
					known[folder] = testsOf(t, folder)
				}
				for _, name := range names {
					if !known[folder][name] || !strings.HasPrefix(name, "Test") {
						t.Errorf("lessons.txt:%d: %s has no %s, which would show %q", l.line, folder, name, l.title)
					}
				}
			}
		}
	}
}

// The defects have tests that are named after them.
func TestDefectsHaveRegressionTests(t *testing.T) {
	all, err := read(lessons)
	if err != nil {
		t.Fatal(err)
	}
	defects := all["Defects of kube-rs, found by reading"]
	numbers := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 25}
	if len(defects) != len(numbers) {
		t.Fatalf("%d defects, want %d", len(defects), len(numbers))
	}
	for i, l := range defects {
		name := fmt.Sprintf("TestRegression%02d", numbers[i])
		found := false
		for _, names := range l.tests {
			found = found || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name) })
		}
		if !found || !strings.HasPrefix(l.title, fmt.Sprint(numbers[i], ": ")) {
			t.Errorf("lessons.txt:%d: %q has no %s…", l.line, l.title, name)
		}
	}
}

// What was collected has so many items under each heading: none is lost in silence.
func TestLessonsAreComplete(t *testing.T) {
	all, err := read(lessons)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for heading, items := range all {
		counts[heading] = len(items)
	}
	want := map[string]int{
		"Tests of kube-rs: its watcher":                                          8,
		"What kube-rs has no test of: each failure in each state of its watcher": 10,
		"Tests of kube-rs: its runtime without a cluster":                        37,
		"Defects of kube-rs, found by reading":                                   15,
		"Reports about watches":                                                  15,
		"Reports about backoff, retries and scheduling":                          13,
		"Reports about caches and memory":                                        5,
		"Reports about controllers as programs":                                  4,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}
