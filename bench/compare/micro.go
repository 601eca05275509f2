package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// micro is a set of benchmarks of a package.
type micro struct {
	title   string
	module  string // folder of the module
	pattern string // of the names
	pkg     string
	time    string // -benchtime
}

var micros = []micro{
	{"Reading a page of 500 pods, per object: internal/wire leaves objects as bytes, apimachinery decodes them", "..", "^Benchmark(List|Watch)$", "./internal/wire", "60x"},
	{"Objects that are read: decoded from the bytes of a cache", "..", "^BenchmarkDecode$", "./resource", "5000x"},
	{"The store, per object", "..", "^Benchmark(Apply|Relist|Get)$", "./runtime/reflector", "30000x"},
	{"The store, memory beside the bytes of the objects", "..", "^BenchmarkMemory$", "./runtime/reflector", "1x"},
}

// runMicro runs the benchmarks of the packages and prints their tables.
func runMicro(ctx context.Context, w io.Writer, _ settings) error {
	for _, m := range micros {
		progress("benchmarks of %s", m.pkg)
		cmd := exec.CommandContext(ctx, "go", "-C", m.module, "test", "-run", "^$", "-bench", m.pattern, "-benchmem", "-benchtime", m.time, m.pkg)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
		progress("")
		fmt.Fprintf(w, "\n%s\n%s", m.title, table(benchmarkLines(out)))
	}
	return nil
}

// units are the columns, in their order; a benchmark that reports figures per object has no use
// for those per page.
var units = []string{"ns/obj", "B/obj", "allocs/obj", "ns/object", "ns/op", "B/op", "allocs/op", "B/object", "overhead-B/object"}

// benchmarkLines reads the output of go test -bench.
func benchmarkLines(out []byte) [][]string {
	type entry struct {
		name   string
		values map[string]string
	}
	var entries []entry
	perObject := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "Benchmark"), "-")
		e := entry{name, map[string]string{}}
		for i := 2; i+1 < len(fields); i += 2 {
			e.values[fields[i+1]] = short(fields[i])
		}
		perObject = perObject || e.values["ns/obj"] != "" || e.values["B/object"] != ""
		entries = append(entries, e)
	}
	head := []string{""}
	for _, unit := range units {
		for _, e := range entries {
			if _, ok := e.values[unit]; ok && !(perObject && strings.HasSuffix(unit, "/op")) {
				head = append(head, unit)
				break
			}
		}
	}
	table := [][]string{head}
	for _, e := range entries {
		line := []string{e.name}
		for _, unit := range head[1:] {
			line = append(line, e.values[unit])
		}
		table = append(table, line)
	}
	return table
}

// short rounds a figure to what can be told apart.
func short(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
