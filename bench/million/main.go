// Command million measures one store of a million objects of 1 KB, and says how that compares with what it is
// meant to be: memory, first list, reads, and the memory of a list of what is known. It needs some
// 2 GiB and ends with 1 where a bound is missed.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

var (
	objects = flag.Int("objects", 1_000_000, "number of objects")
	size    = flag.Int("size", 1024, "bytes of each object")
	asJSON  = flag.Bool("json", false, "JSON in place of protobuf")
	isServe = flag.Bool("serve", false, "be the server")
)

// jsonConfigMaps are what config maps would be if they had no protobuf.
var jsonConfigMaps = resource.DefineNamespaced[corev1.ConfigMap](resource.Info{Version: "v1", Kind: "ConfigMap"})

func main() {
	flag.Parse()
	if *isServe {
		serve(*objects, *size, *asJSON)
		return
	}
	os.Exit(run())
}

func run() (code int) {
	address, stop := startServer()
	defer stop()
	client, err := kube.NewClient(&kube.Config{Server: address})
	measure.Check(err)
	api := client.All(core.ConfigMaps)
	if *asJSON {
		api = client.All(jsonConfigMaps)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	r := reflector.New(api, nil)
	empty, cpu, began := settled(), measure.CPU(), time.Now()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	measure.Check(r.Store().WaitReady(ctx))
	cpu = measure.CPU() - cpu
	fmt.Printf("%d objects of %d bytes, first list in %v\n", r.Store().Len(), *size, time.Since(began).Round(time.Millisecond))
	full := settled()

	var t table
	t.add("memory of an object", "bytes", float64(full-empty)/float64(*objects), 1600, false)
	t.add("first list, per CPU second", "objects", float64(*objects)/cpu, 150_000, true)
	t.add("get, of a bare decode", "", reads(r.Store()), 1.2, false)

	full = settled()
	measure.ResetPeak()
	cpu = measure.CPU()
	response, err := http.Post(address+"/expire", "", nil)
	measure.Check(err)
	response.Body.Close()
	measure.Check(r.Store().WaitFor(ctx, strconv.Itoa(firstVersion+1)))
	t.add("peak of a list of what is known, of memory before", "", float64(measure.Peak())/float64(full), 1.3, false)
	fmt.Printf("second list: %.2f s of CPU\n", measure.CPU()-cpu)
	cancel()
	measure.Check(<-ended)
	return t.print()
}

// startServer runs the server as a process of its own.
func startServer() (address string, stop func()) {
	program, err := os.Executable()
	measure.Check(err)
	server := exec.Command(program, append([]string{"-serve"}, os.Args[1:]...)...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	measure.Check(err)
	in, err := server.StdinPipe()
	measure.Check(err)
	measure.Check(server.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	measure.Check(err)
	return "http://" + strings.TrimSpace(line), func() {
		in.Close()
		server.Wait()
	}
}

// settled returns the bytes of the process in memory when garbage has been collected and given back.
func settled() int64 {
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	return measure.Resident()
}

// reads returns what a Get costs, as a multiple of what decoding the same bytes does. The two take turns on
// objects that are picked at random and were not read before, so that the memory that they are in is
// as far away for both; the middle of the ratios counts. Turns are short, so that few of them have the collector of
// garbage, which goes through all objects, at work in one of the two alone.
func reads(store reflector.Store[corev1.ConfigMap]) float64 {
	const rounds = 250
	sample := min(1000, *objects/rounds/2)
	picked := rand.New(rand.NewPCG(1, 1)).Perm(*objects)[:2*rounds*sample]
	refs := make([]resource.Ref[corev1.ConfigMap], len(picked))
	bodies := make([][]byte, len(picked))
	for n, i := range picked {
		refs[n] = resource.Ref[corev1.ConfigMap]{Namespace: namespace(i), Name: name(i)}
		lazy, ok := store.Lazy(refs[n])
		if !ok {
			measure.Check(fmt.Errorf("%s is not in the store", refs[n]))
		}
		bodies[n] = lazy.Bytes()
	}
	decode := bareDecode()
	var ratios []float64
	for ; len(refs) > 0; refs, bodies = refs[2*sample:], bodies[2*sample:] {
		get := timed(func() {
			for _, ref := range refs[:sample] {
				_, err := store.Get(ref)
				measure.Check(err)
			}
		})
		bare := timed(func() {
			for _, body := range bodies[sample : 2*sample] {
				measure.Check(decode(body))
			}
		})
		ratios = append(ratios, get/bare)
	}
	slices.Sort(ratios)
	fmt.Printf("get, of a bare decode: half of the turns from %.2f to %.2f\n", ratios[rounds/4], ratios[rounds*3/4])
	return ratios[rounds/2]
}

// timed returns the seconds of CPU that f takes.
func timed(f func()) float64 {
	cpu := measure.CPU()
	f()
	return measure.CPU() - cpu
}

// table is the results beside their bounds.
type table []string

func (t *table) add(what, unit string, got, bound float64, atLeast bool) {
	word, verdict := "at most", "holds"
	if atLeast {
		word = "at least"
	}
	if atLeast && got < bound || !atLeast && got > bound {
		verdict = "MISSED"
	}
	*t = append(*t, fmt.Sprintf("%-52s %12s  %-8s %10s  %s", what, number(got, unit), word, number(bound, unit), verdict))
}

func number(n float64, unit string) string {
	if unit == "" {
		return strconv.FormatFloat(n, 'f', 2, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

func (t *table) print() (code int) {
	for _, line := range *t {
		fmt.Println(line)
		if strings.HasSuffix(line, "MISSED") {
			code = 1
		}
	}
	return code
}
