package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/bench/internal/measure"
)

// measured returns a result in which kube needs a fourth of what client-go does.
func measured() *result {
	w := row{variant: "protobuf", phase: "sync", metric: cpu}.aim(0.3, clientGo).as("First sync")
	r := &result{
		scenario: scenario{Name: "cache", Title: "A cache", rows: []row{w, {variant: "protobuf", phase: "sync", metric: settled}, {variant: "nobody", phase: "sync", metric: cpu}}},
		Title:    "A cache", Command: "make bench", Runs: 3, Date: "2026-01-02", Machine: "linux/amd64, 2 CPUs",
		Versions: versions{Go: "go1.27.3", Kube: "v1", ClientGo: "v0.37.2", ControllerRuntime: "v0.25.2"},
		Variants: []variant{{Name: "protobuf", Clients: []string{ours, clientGo}}},
	}
	for i, user := range []float64{1, 3, 2} {
		r.Samples = append(r.Samples,
			sample{ours, "protobuf", i, []measure.Phase{{Phase: "sync", User: user, System: 1, Settled: 10 << 20, Count: 100}}},
			sample{clientGo, "protobuf", i, []measure.Phase{{Phase: "sync", User: 11, System: 1, Settled: 40 << 20, Count: 100}}})
	}
	return r
}

func TestTable(t *testing.T) {
	want := `|                                   | kube   | client-go | ratio            | target            |
|-----------------------------------|--------|-----------|------------------|-------------------|
| protobuf: sync, CPU               | 3.00 s | 12.00 s   | 0.25 (0.17-0.33) | 0.30 of client-go |
| protobuf: sync, memory afterwards | 10 MiB | 40 MiB    | 0.25             |                   |
`
	if diff := cmp.Diff(want, measured().table()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverview(t *testing.T) {
	want := `| All of it  | kube   | of client-go     | target            |
|------------|--------|------------------|-------------------|
| First sync | 3.00 s | 0.25 (0.17-0.33) | 0.30 of client-go |
`
	if diff := cmp.Diff(want, overview([]*result{measured()})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHuman(t *testing.T) {
	for _, c := range []struct {
		metric string
		value  float64
		want   string
	}{
		{cpuEach, 3.5e-7, "350 ns"}, {cpuEach, 4.25e-5, "42.5 µs"}, {p99, 0.0123, "12.3 ms"}, {cpu, -0.0034, "-3.4 ms"}, {cpu, 1.5, "1.50 s"},
		{peak, 52.4 * (1 << 20), "52 MiB"}, {size, 13.98e6, "14.0 MB"}, {allocs, 3.25, "3.2"}, {count, 20000, "20000"},
	} {
		if got := human(c.metric, c.value); got != c.want {
			t.Errorf("%s of %g: %q, want %q", c.metric, c.value, got, c.want)
		}
	}
}

func TestEveryMetricOfARowExists(t *testing.T) {
	p := measure.Phase{User: 1, Count: 1}
	for _, sc := range scenarios(true) {
		names := map[string]bool{}
		for _, v := range sc.variants {
			names[v.Name] = true
		}
		for _, w := range sc.rows {
			of(w.metric, p) // it panics for one that is not
			if !names[w.variant] {
				t.Errorf("%s has a row of variant %q, which it does not have", sc.Name, w.variant)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v: %g, want %g", c.values, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		target float64
		check  bool
		want   string
		fails  bool
	}{
		{0.3, true, "1 of 1 targets hold", false},
		{0.24, true, "1 of 1 targets hold", false}, // within 10 %
		{0.2, false, "0.25 (0.17-0.33) of client-go, the target is 0.20", false},
		{0.2, true, "", true},
	} {
		r := measured()
		r.scenario.rows[0].targets[0].ratio = c.target
		var out strings.Builder
		err := judge(&out, settings{check: c.check}, []*result{r})
		if (err != nil) != c.fails || !strings.Contains(out.String(), c.want) {
			t.Errorf("target %g, check %v: %v, %q", c.target, c.check, err, out.String())
		}
	}
}

func TestALimitIsReportedAndNoFailure(t *testing.T) {
	r := measured()
	r.scenario.rows[0] = r.scenario.rows[0].aim(0.1, clientGo).limited("a reason")
	var out strings.Builder
	if err := judge(&out, settings{check: true}, []*result{r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of 2 targets are out of reach", "the target is 0.10: a reason", "1 of 2 targets hold"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestTargetsBesideRust(t *testing.T) {
	rows := []row{{phase: "sync", metric: cpu}, {phase: "events", metric: peak}, {phase: "idle", metric: settled}, {phase: "get", metric: perSecond}}
	aimAtRust(rows)
	var got []float64
	for _, w := range rows {
		for _, t := range w.targets {
			got = append(got, t.ratio)
		}
	}
	if diff := cmp.Diff([]float64{1, 1, 1.5}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResultIsReadBack(t *testing.T) {
	dir := t.TempDir()
	r := measured()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := readResult(dir, r.scenario)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.table(), again.table()); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if _, err := readResult(dir, scenario{Name: "other"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that there is none", err)
	}
}

// wellFormed fails unless text is XML to its end.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func TestPlots(t *testing.T) {
	bars := measured().bars()
	wellFormed(t, bars)
	widths := regexp.MustCompile(`<rect x="400" y="\d+" width="(\d+)"`).FindAllStringSubmatch(bars, -1)
	if len(widths) != 4 || widths[0][1] != "90" || widths[1][1] != "360" {
		t.Errorf("bars are %v, want four, the first two 90 and 360 wide", widths)
	}
	if !strings.Contains(bars, "prefers-color-scheme: dark") {
		t.Error("the plot has no dark colours")
	}
	curves := grown().curves()
	wellFormed(t, curves)
	if n := strings.Count(curves, "<circle"); n != 9 {
		t.Errorf("%d points, want 9", n)
	}
}

// grown returns a result that grows along straight lines.
func grown() *result {
	r := &result{scenario: scenario{Name: growth}}
	for _, n := range []int{1000, 20000, 100000} {
		name := map[int]string{1000: "1000", 20000: "20000", 100000: "100000"}[n]
		r.Variants = append(r.Variants, variant{Name: name})
		r.Samples = append(r.Samples, sample{ours, name, 0, []measure.Phase{
			{Phase: "sync", User: 0.01 + 5e-6*float64(n), Settled: 15<<20 + 700*int64(n), Count: int64(n)},
			{Phase: "events", User: 1, Count: 100000},
		}})
	}
	return r
}

func TestFit(t *testing.T) {
	l := fit([]float64{1, 2, 4}, []float64{13, 16, 22})
	if math.Abs(l.base-10) > 1e-9 || math.Abs(l.slope-3) > 1e-9 || l.off > 1e-9 {
		t.Errorf("%+v, want 10 and 3", l)
	}
	if l := fit([]float64{1, 2, 4}, []float64{1, 4, 16}); l.off < 0.1 {
		t.Errorf("a square is %.2f off the line", l.off)
	}
	want := "| kube: Memory afterwards | 15 MiB          | 700 bytes        | 0 %                    |\n"
	if got := grown().slopes(); !strings.Contains(got, want) {
		t.Errorf("%s\nwant the line\n%s", got, want)
	}
}

func TestEventsMayNotCostMoreInALargeCache(t *testing.T) {
	r := grown()
	if v := verdictOn([]*result{r}); v.targets != 1 || len(v.missed) > 0 {
		t.Errorf("%+v, want one target, which is met", v)
	}
	r.Samples[2].Phases[1].User = 1.3
	want := "growth, events: 13.0 µs with 100000 objects and 10.0 µs with 1000, at most 20 % more is the target"
	if v := verdictOn([]*result{r}); len(v.missed) != 1 || v.missed[0] != want {
		t.Errorf("%q, want %q", v.missed, want)
	}
}

func TestParseBenchmarks(t *testing.T) {
	got, err := parseBenchmarks(`goos: linux
BenchmarkList/json/wire-2         	      60	        11163 ns/obj	      3466 B/obj	         1.050 allocs/obj
BenchmarkQueue/add_of_a_pending_key 	  200000	       190.6 ns/op	     160 B/op	       2 allocs/op
PASS
`)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	want := []measure.Phase{
		{Phase: "LIST", Wall: 11163e-9, Allocated: 3466, Allocs: 1, Count: 1},
		{Phase: "add", Wall: 190.6e-9, Allocated: 160, Allocs: 2, Count: 1},
	}
	if got[0].name != "List/json/wire" || got[1].name != "Queue/add_of_a_pending_key" {
		t.Errorf("names %q and %q", got[0].name, got[1].name)
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, []measure.Phase{got[0].phase("LIST"), got[1].phase("add")}, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := parseBenchmarks("BenchmarkX-2 1 many ns/op"); err == nil {
		t.Error("a figure that is none is no error")
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := replace(path, "x"); !errors.Is(err, errNoPlace) {
		t.Errorf("no document: %v", err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Title\n")
	if err := replace(path, "x"); !errors.Is(err, errNoPlace) {
		t.Errorf("no place: %v", err)
	}
	write("# Title\n" + generatedFrom + "old\n" + generatedTo + "end\n")
	if err := replace(path, performance([]*result{measured()})); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n", "On linux/amd64, 2 CPUs: client-go v0.37.2", "kube v1, 2026-01-02, by `make bench`.", "2026-01-02, kube v1, `make bench`, 3 alternating runs.", "| protobuf: sync, CPU ", "(../bench/results/cache.svg)", generatedTo + "end\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the document lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Errorf("what was there before is still there:\n%s", got)
	}
	later := measured()
	later.Versions.Kube, later.Date = "v2", "2026-01-03"
	if text := provenance([]*result{measured(), later}); !strings.Contains(text, "kube at the commits that docs/performance.md names, 2026-01-02, 2026-01-03, by `make bench`.") {
		t.Errorf("results of two days: %s", text)
	}
	if short := summary([]*result{measured()}); !strings.Contains(short, "| First sync | 3.00 s | 12.00 s (0.25) |") {
		t.Errorf("summary:\n%s", short)
	}
}

func TestParse(t *testing.T) {
	s, err := parse([]string{"-only", "cache|queue"})
	if err != nil || s.repeat != quickRepeat || s.results != filepath.Join("results", "quick") || !s.only.MatchString("queue") {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = parse([]string{"-full"})
	if err != nil || s.repeat != 5 || s.results != "results" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err = parse([]string{"-only", "("}); err == nil {
		t.Error("a pattern that is none is no error")
	}
}
