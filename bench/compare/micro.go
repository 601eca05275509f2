package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-kube/kube/bench/internal/measure"
)

// benchmark is a line of go test -bench.
type benchmark struct {
	name   string // without Benchmark, and without the number of processors
	values map[string]float64
}

// benchmarks runs benchmarks of a package several times, and returns the fastest of each.
func (l *lab) benchmarks(ctx context.Context, module, pkg, pattern, benchtime string, tries int) (fastest []benchmark, err error) {
	program, err := l.testProgram(ctx, module, pkg)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", pattern, "-test.benchmem", "-test.benchtime", benchtime, "-test.count", strconv.Itoa(tries))
	cmd.Dir = filepath.Join(module, pkg)
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	all, err := parseBenchmarks(out)
	for _, b := range all {
		i := slices.IndexFunc(fastest, func(known benchmark) bool { return known.name == b.name })
		switch {
		case i < 0:
			fastest = append(fastest, b)
		case b.time() < fastest[i].time():
			fastest[i] = b
		}
	}
	return fastest, err
}

// testProgram returns the program of a package's tests and benchmarks, which is built once.
func (l *lab) testProgram(ctx context.Context, module, pkg string) (path string, err error) {
	folder := filepath.Join(module, pkg)
	if path, ok := l.tests[folder]; ok {
		return path, nil
	}
	begin := time.Now()
	defer func() { l.building += time.Since(begin) }()
	path = filepath.Join(l.bin, strings.NewReplacer("/", "-", ".", "").Replace(folder)+".test")
	if _, err := output(exec.CommandContext(ctx, "go", "-C", module, "test", "-c", "-o", path, pkg)); err != nil {
		return "", err
	}
	l.tests[folder] = path
	return path, nil
}

// time is what one operation took, in nanoseconds: of what the benchmark says an operation is, or
// of an object where it says that.
func (b benchmark) time() float64 { return b.values[b.unit("ns/")] }

// unit completes a unit: benchmarks that go through many objects have one for those.
func (b benchmark) unit(prefix string) string {
	for _, unit := range []string{"obj", "object"} {
		if _, ok := b.values["ns/"+unit]; ok {
			return prefix + unit
		}
	}
	return prefix + "op"
}

// phase makes a phase of a benchmark.
func (b benchmark) phase(name string) measure.Phase {
	return measure.Phase{Phase: name, Wall: b.time() * 1e-9, Allocated: uint64(b.values[b.unit("B/")]), Allocs: uint64(b.values[b.unit("allocs/")]), Count: 1}
}

// parseBenchmarks reads the output of go test -bench.
func parseBenchmarks(out string) (found []benchmark, err error) {
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		b := benchmark{strings.TrimPrefix(fields[0], "Benchmark"), map[string]float64{}}
		if i := strings.LastIndexByte(b.name, '-'); i > 0 {
			b.name = b.name[:i]
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if b.values[fields[i+1]], err = strconv.ParseFloat(fields[i], 64); err != nil {
				return nil, fmt.Errorf("%q: %w", lines.Text(), err)
			}
		}
		found = append(found, b)
	}
	return found, nil
}

// micro are benchmarks of a package, by the names that their work has in the table.
type micro struct {
	client, pkg, pattern, benchtime string
	names                           map[string]string
}

// apimachinery is the peer of the wire.
const apimachinery = "apimachinery"

// microScenario is what wire and store cost per object, from the benchmarks of the packages.
func microScenario() scenario {
	const name = "one pod"
	s := scenario{
		Name: "micro",
		Title: "Wire and store, per pod of 3.5 KB (protobuf) or 5.3 KB (JSON): a page of 500 is split into objects by kube, and decoded by apimachinery. " +
			"Time is that of the clock, of several tries the fastest",
		variants: []variant{{name, measure.Args{}, []string{ours, apimachinery}}},
		work:     measureMicro,
		once:     true,
	}
	for _, phase := range []string{"LIST, json", "LIST, protobuf", "WATCH, json", "WATCH, protobuf"} {
		s.rows = append(s.rows, rowsOf(name, phase, wall, bytesEach, allocs)...)
	}
	for _, phase := range []string{
		"decode, json", "decode, protobuf", "pack, json", "pack, protobuf", "unpack, json", "unpack, protobuf",
		"store a change", "relist, unchanged",
	} {
		s.rows = append(s.rows, rowsOf(name, phase, wall)...)
	}
	return s
}

var micros = []micro{
	{ours, "./internal/wire", "^Benchmark(List|Watch)$/./^wire$", "20x", map[string]string{
		"List/json/wire": "LIST, json", "List/protobuf/wire": "LIST, protobuf",
		"Watch/json/wire": "WATCH, json", "Watch/protobuf/wire": "WATCH, protobuf",
	}},
	{apimachinery, "./internal/wire", "^Benchmark(List|Watch)$/./^apimachinery$", "5x", map[string]string{
		"List/json/apimachinery": "LIST, json", "List/protobuf/apimachinery": "LIST, protobuf",
		"Watch/json/apimachinery": "WATCH, json", "Watch/protobuf/apimachinery": "WATCH, protobuf",
	}},
	{ours, "./internal/wire", "^BenchmarkPack$", "5000x", map[string]string{
		"Pack/json/pack": "pack, json", "Pack/protobuf/pack": "pack, protobuf",
		"Pack/json/read": "unpack, json", "Pack/protobuf/read": "unpack, protobuf",
	}},
	{ours, "./resource", "^BenchmarkDecode$/./^lazy$", "5000x", map[string]string{"Decode/json/lazy": "decode, json", "Decode/protobuf/lazy": "decode, protobuf"}},
	{ours, "./runtime/reflector", "^BenchmarkApply$/^plain$", "20000x", map[string]string{"Apply/plain": "store a change"}},
	{ours, "./runtime/reflector", "^BenchmarkRelist$", "20x", map[string]string{"Relist": "relist, unchanged"}},
}

func measureMicro(ctx context.Context, l *lab, _ variant, client string) (phases []measure.Phase, err error) {
	for _, m := range micros {
		if m.client != client {
			continue
		}
		found, err := l.benchmarks(ctx, "..", m.pkg, m.pattern, m.benchtime, 3)
		if err != nil {
			return nil, err
		}
		if len(found) != len(m.names) {
			return nil, fmt.Errorf("%s has %d benchmarks %s, not %d", m.pkg, len(found), m.pattern, len(m.names))
		}
		for _, b := range found {
			phases = append(phases, b.phase(m.names[b.name]))
		}
	}
	return phases, nil
}
