package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/bench/internal/replay"
)

// lab is where programs are measured.
type lab struct {
	settings
	bin      string            // folder of what was built
	programs map[string]string // by client
	tests    map[string]string // programs of tests, by folder
	versions versions
	building time.Duration // was spent on building programs
}

// newLab builds the programs.
func newLab(ctx context.Context, s settings) (*lab, error) {
	bin, err := os.MkdirTemp("", "kube-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{settings: s, bin: bin, programs: map[string]string{}, tests: map[string]string{}}
	if err := l.build(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) close() { os.RemoveAll(l.bin) }

func (l *lab) build(ctx context.Context) (err error) {
	begin := time.Now()
	defer func() { l.building += time.Since(begin) }()
	for _, client := range []string{ours, clientGo, ctrlRuntime} {
		progress("building the program of %s", client)
		l.programs[client] = filepath.Join(l.bin, folders[client])
		if err := buildGo(ctx, l.programs[client], "./"+folders[client]); err != nil {
			return err
		}
	}
	if l.programs[kubeRS], err = buildRust(ctx, "kubers"); err != nil {
		return err
	}
	l.versions, err = readVersions(ctx, l.programs[kubeRS] != "")
	return err
}

// measure runs every client of a scenario by turns.
func (l *lab) measure(ctx context.Context, sc scenario) (*result, error) {
	r := &result{
		scenario: sc, Title: sc.Title, Command: l.command(), Runs: l.runs(sc), Date: time.Now().UTC().Format(time.DateOnly), Versions: l.versions,
		Machine:  fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Variants: sc.variants,
	}
	for _, v := range sc.variants {
		samples, err := l.variant(ctx, sc, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		r.Samples = append(r.Samples, samples...)
	}
	progress("")
	return r, r.write(l.results)
}

// runs is how often each program of a scenario runs.
func (l *lab) runs(sc scenario) int {
	switch {
	case sc.once:
		return 1
	case sc.thrice && l.repeat == quickRepeat:
		return quickRepeat + 1
	}
	return l.repeat
}

func (l *lab) variant(ctx context.Context, sc scenario, v variant) (samples []sample, err error) {
	work := sc.work
	if work == nil {
		objects, err := encode(v.Args)
		if err != nil {
			return nil, err
		}
		work = func(ctx context.Context, l *lab, v variant, client string) ([]measure.Phase, error) {
			return execute(ctx, l.programs[client], v.Args, "", objects)
		}
		defer l.profileRun(ctx, sc, v, objects, &err)
	}
	runs := l.runs(sc)
	for repeat := range runs {
		for _, client := range v.Clients {
			if client == kubeRS && l.programs[kubeRS] == "" {
				continue
			}
			progress("%s, %s: run %d of %d of %s", sc.Name, v.Name, repeat+1, runs, client)
			phases, err := work(ctx, l, v, client)
			if err != nil {
				return nil, err
			}
			samples = append(samples, sample{client, v.Name, repeat, phases})
		}
	}
	return samples, nil
}

// profileRun runs kube once more, with profiles, where these are wanted.
func (l *lab) profileRun(ctx context.Context, sc scenario, v variant, objects []*replay.Objects, err *error) {
	if !l.profile || *err != nil || !slices.Contains(v.Clients, ours) {
		return
	}
	folder := filepath.Join(l.results, "profiles", sc.Name, v.Name)
	if *err = os.MkdirAll(folder, 0o755); *err != nil {
		return
	}
	progress("%s, %s: profiles in %s", sc.Name, v.Name, folder)
	_, *err = execute(ctx, l.programs[ours], v.Args, folder, objects)
}

// encode prepares the objects of a run. Single requests may be answered in either format, since
// controller-runtime applies as JSON whatever else it speaks.
func encode(args measure.Args) ([]*replay.Objects, error) {
	kind, err := replay.KindNamed(args.Kind)
	if err != nil {
		return nil, err
	}
	formats := []replay.Format{replay.Format(args.Format)}
	if args.Scenario == "unary" && args.Format == string(replay.Protobuf) {
		formats = append(formats, replay.JSON)
	}
	var all []*replay.Objects
	for _, format := range formats {
		objects, err := replay.Encode(kind, format, args.Objects)
		if err != nil {
			return nil, err
		}
		all = append(all, objects)
	}
	return all, nil
}

// serve starts a server of objects. Closing it ends its connections.
func serve(objects []*replay.Objects) (address string, handler *replay.Server, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	handler = replay.NewServer(objects[0], objects[1:]...)
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	return "http://" + listener.Addr().String(), handler, server.Close, nil
}

// execute runs a program against a server of its own, and returns what it has printed.
func execute(ctx context.Context, program string, a measure.Args, profiles string, objects []*replay.Objects) ([]measure.Phase, error) {
	address, handler, stop, err := serve(objects)
	if err != nil {
		return nil, err
	}
	defer stop()
	args := []string{
		"-server", address, "-scenario", a.Scenario, "-kind", a.Kind, "-format", a.Format,
		"-objects", strconv.Itoa(a.Objects), "-events", strconv.Itoa(a.Events), "-rate", strconv.Itoa(a.Rate),
		"-window", strconv.Itoa(a.Window), "-workers", strconv.Itoa(a.Workers), "-profiles", profiles,
	}
	if a.Warm {
		args = append(args, "-warm")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s (the server saw %s): %w", cmd, handler.Requests(), err)
	}
	return parsePhases(&out)
}

// parsePhases reads what a program has printed.
func parsePhases(out *bytes.Buffer) (phases []measure.Phase, err error) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var p measure.Phase
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("a line of the program, %q: %w", lines.Text(), err)
		}
		phases = append(phases, p)
	}
	return phases, nil
}

// progress shows on a terminal what is going on.
func progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
	}
}
