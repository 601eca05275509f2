// Package measure is what the programs under test have in common: their flags, and the line of
// JSON that each phase of their work ends with.
package measure

import (
	"encoding/json/v2"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// DoneLabel is on the object of the last event.
	DoneLabel = "done"
	// AtAnnotation says when an event was sent: nanoseconds since 1970, 19 digits.
	AtAnnotation = "bench.example.com/at"
)

// Args are what a program under test is told.
type Args struct {
	// Server is the address of the replay server.
	Server string
	// Scenario is what to do.
	Scenario string
	// Kind is the plural of the kind to do it with, Format how its objects travel.
	Kind, Format string
	// Objects is how many there are, Events how many changes or calls are asked for.
	Objects, Events int
	// Rate is how many changes a second; 0 is as many as are read.
	Rate int
	// Window is after how many changes the server waits to be asked for more; 0 is never.
	Window int
	// Workers is how many reconciles run at a time.
	Workers int
	// Warm has memory that was given back between two phases taken again, so that the next one is
	// measured in a heap that has been used before, as that of a program is that has run for a while.
	Warm bool
	// Profiles is a folder for profiles of each phase; empty writes none.
	Profiles string
}

// Parse reads the flags.
func Parse() Args {
	var a Args
	flag.StringVar(&a.Server, "server", "http://127.0.0.1:18080", "address of the replay server")
	flag.StringVar(&a.Scenario, "scenario", "cache", "cache, reconcile, relist, read, unary or latency")
	flag.StringVar(&a.Kind, "kind", "pods", "pods, secrets or webapps")
	flag.StringVar(&a.Format, "format", "protobuf", "protobuf or json")
	flag.IntVar(&a.Objects, "objects", 20000, "objects that the server has")
	flag.IntVar(&a.Events, "events", 100000, "events or calls")
	flag.IntVar(&a.Rate, "rate", 0, "events a second")
	flag.IntVar(&a.Window, "window", 0, "events until the server waits")
	flag.IntVar(&a.Workers, "workers", 2, "reconciles at a time")
	flag.BoolVar(&a.Warm, "warm", false, "begin phases with a heap that was used before")
	flag.StringVar(&a.Profiles, "profiles", "", "folder for CPU and heap profiles")
	flag.Parse()
	return a
}

// MediaType is the Accept header of the format.
func (a Args) MediaType() string {
	if a.Format == "json" {
		return "application/json"
	}
	return "application/vnd.kubernetes.protobuf"
}

// StartEvents has the server send events.
func (a Args) StartEvents() {
	a.post(fmt.Sprintf("/bench/events?count=%d&rate=%d&window=%d", a.Events, a.Rate, a.Window))
}

// Reconciled is called with the number of reconciles so far. It has the server send another
// window of events when the last one is through, and reports whether n is that of the first
// reconcile of every object.
func (a Args) Reconciled(n int64) (all bool) {
	if events := n - int64(a.Objects); a.Window > 0 && events > 0 && events%int64(a.Window) == 0 {
		a.post("/bench/next")
	}
	return n == int64(a.Objects)
}

// Expire has the server end the watches, so that the program lists again.
func (a Args) Expire() { a.post("/bench/expire") }

func (a Args) post(path string) {
	resp, err := http.Post(a.Server+path, "", nil)
	Check(err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		Check(fmt.Errorf("%s: %s", path, resp.Status))
	}
}

// Check ends the program when there is an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Phase is what a phase has used. Memory is in bytes.
type Phase struct {
	Phase string `json:"phase"`
	// Wall, User and System are seconds: those of the clock, and of the processor in the program
	// and in the kernel.
	Wall   float64 `json:"wall"`
	User   float64 `json:"user"`
	System float64 `json:"system"`
	// Peak is the largest resident set during the phase, Settled the one after it, when garbage
	// has been collected and given back.
	Peak    int64 `json:"peak"`
	Settled int64 `json:"settled"`
	// Allocs and Allocated are the number and the bytes of allocations.
	Allocs    uint64 `json:"allocs"`
	Allocated uint64 `json:"allocated"`
	// Count is what the phase was made of: objects, events, reconciles or calls.
	Count int64 `json:"count"`
	// P50 and P99 are of the seconds from a change to its reconcile, where they were measured.
	P50 float64 `json:"p50,omitzero"`
	P99 float64 `json:"p99,omitzero"`
}

// Meter measures phases, one after another. Between them it collects garbage, which counts for
// none of them.
type Meter struct {
	profiles     string
	warm         bool
	cpu          *os.File
	begin        time.Time
	user, system float64
	memory       runtime.MemStats
}

var processStart = time.Now()

// NewMeter begins the first phase, to which everything since the start of the process belongs.
func NewMeter(a Args) *Meter {
	m := &Meter{profiles: a.Profiles, warm: a.Warm, begin: processStart}
	m.profile()
	return m
}

// profile begins a CPU profile.
func (m *Meter) profile() {
	if m.profiles == "" {
		return
	}
	var err error
	m.cpu, err = os.CreateTemp(m.profiles, "cpu-*")
	Check(err)
	Check(pprof.StartCPUProfile(m.cpu))
}

// End ends a phase, prints it, and begins the next.
func (m *Meter) End(phase string, count int64, latencies *Latencies) {
	now := time.Now()
	user, system := processorTime()
	p := Phase{Phase: phase, Wall: now.Sub(m.begin).Seconds(), User: user - m.user, System: system - m.system, Peak: peak(), Count: count}
	m.endProfile(phase)
	before := m.memory
	runtime.ReadMemStats(&m.memory)
	p.Allocs, p.Allocated = m.memory.Mallocs-before.Mallocs, m.memory.TotalAlloc-before.TotalAlloc
	runtime.GC()
	debug.FreeOSMemory()
	p.Settled = resident()
	if latencies != nil {
		p.P50, p.P99 = latencies.Quantiles()
	}
	line, err := json.Marshal(p)
	Check(err)
	fmt.Println(string(line))
	if m.warm {
		warmUp()
	}
	resetPeak()
	m.profile()
	runtime.ReadMemStats(&m.memory)
	m.user, m.system = processorTime()
	m.begin = time.Now()
}

// warmUp takes as much memory as a heap grows by until its garbage is collected, once, and leaves it
// to the heap.
func warmUp() {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	block := make([]byte, now.HeapAlloc)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	runtime.KeepAlive(block)
	runtime.GC()
}

// endProfile writes the profiles of a phase.
func (m *Meter) endProfile(phase string) {
	if m.cpu == nil {
		return
	}
	pprof.StopCPUProfile()
	Check(m.cpu.Close())
	Check(os.Rename(m.cpu.Name(), filepath.Join(m.profiles, phase+".cpu.pprof")))
	heap, err := os.Create(filepath.Join(m.profiles, phase+".heap.pprof"))
	Check(err)
	runtime.GC()
	Check(pprof.WriteHeapProfile(heap))
	Check(heap.Close())
}

// Calls calls f args.Events times, with one pod of the replay server after another. Eight calls
// are under way at a time.
func (a Args) Calls(f func(i int, namespace, name string) error) {
	const atATime = 8
	var all sync.WaitGroup
	for first := range atATime {
		all.Go(func() {
			for i := first; i < a.Events; i += atATime {
				n := i % a.Objects
				Check(f(i, fmt.Sprintf("team-%d", n%50), fmt.Sprintf("web-6d4cf56db6-%05d", n)))
			}
		})
	}
	all.Wait()
}

// CallLabels are what call number i applies.
func CallLabels(i int) map[string]string { return map[string]string{"bench": strconv.Itoa(i)} }

// Latencies gathers how long things took. It is safe for concurrent use.
type Latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

// AddSince adds the time since an event was sent, as the annotations of its object say.
func (l *Latencies) AddSince(annotations map[string]string) {
	sent, err := strconv.ParseInt(annotations[AtAnnotation], 10, 64)
	if err != nil {
		return // it is not from an event
	}
	d := time.Duration(time.Now().UnixNano() - sent)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// Quantiles returns the median and the 99th percentile, in seconds.
func (l *Latencies) Quantiles() (p50, p99 float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return 0, 0
	}
	slices.Sort(l.all)
	return l.all[len(l.all)/2].Seconds(), l.all[len(l.all)*99/100].Seconds()
}
