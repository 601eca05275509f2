package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/bench/internal/replay"
)

// result is what a scenario has shown.
type result struct {
	scenario scenario
	// Date and Machine are when and on what.
	Date    string    `json:"date"`
	Machine string    `json:"machine"`
	Title   string    `json:"title"`
	Variant []variant `json:"variants"`
	Samples []sample  `json:"samples"`
}

// sample is one run of one program.
type sample struct {
	Client  string          `json:"client"`
	Variant string          `json:"variant"`
	Repeat  int             `json:"repeat"`
	Phases  []measure.Phase `json:"phases"`
}

// measureScenario runs every program of a scenario by turns.
func measureScenario(ctx context.Context, s settings, built programs, sc scenario) (*result, error) {
	r := &result{scenario: sc, Date: time.Now().UTC().Format(time.DateOnly), Machine: machine(), Title: sc.Title, Variant: sc.Variants}
	for _, v := range sc.Variants {
		kind, err := replay.KindNamed(v.Args.Kind)
		if err != nil {
			return nil, err
		}
		objects, err := replay.Encode(kind, replay.Format(v.Args.Format), v.Args.Objects)
		if err != nil {
			return nil, err
		}
		for repeat := range s.repeat {
			for _, client := range v.Clients {
				if built[client] == "" {
					continue
				}
				progress("%s, %s: run %d of %d of %s", sc.Name, v.Name, repeat+1, s.repeat, client)
				phases, err := execute(ctx, job{program: built[client], args: v.Args}, objects)
				if err != nil {
					return nil, err
				}
				r.Samples = append(r.Samples, sample{client, v.Name, repeat, phases})
			}
		}
		if s.profile {
			if err := profile(ctx, s, built, sc, v, objects); err != nil {
				return nil, err
			}
		}
	}
	progress("")
	return r, r.write(s.results)
}

// profile runs kube once more, with profiles.
func profile(ctx context.Context, s settings, built programs, sc scenario, v variant, objects *replay.Objects) error {
	folder := filepath.Join(s.results, "profiles", sc.Name+"-"+v.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	progress("%s, %s: profiles in %s", sc.Name, v.Name, folder)
	_, err := execute(ctx, job{program: built[ours], args: v.Args, profiles: folder}, objects)
	return err
}

func (r *result) write(folder string) error {
	data, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, r.scenario.Name+".json"), append(data, '\n'), 0o644)
}

// machine says on what was measured, as far as it matters.
func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// progress shows on a terminal what is going on.
func progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
}
