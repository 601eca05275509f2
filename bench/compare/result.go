package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-kube/kube/bench/internal/measure"
)

// result is what a scenario has shown.
type result struct {
	scenario scenario

	Title string `json:"title"`
	// Command is what was run, and Runs how often each program.
	Command  string    `json:"command"`
	Runs     int       `json:"runs"`
	Date     string    `json:"date"`
	Machine  string    `json:"machine"`
	Versions versions  `json:"versions"`
	Variants []variant `json:"variants"`
	Samples  []sample  `json:"samples"`
}

// sample is one run of one program.
type sample struct {
	Client  string          `json:"client"`
	Variant string          `json:"variant"`
	Repeat  int             `json:"repeat"`
	Phases  []measure.Phase `json:"phases"`
}

func (r *result) write(folder string) error {
	data, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, r.scenario.Name+".json"), append(data, '\n'), 0o644)
}

// readResult reads what write has written.
func readResult(folder string, sc scenario) (*result, error) {
	path := filepath.Join(folder, sc.Name+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.scenario = sc
	return r, nil
}

// values returns a row's figures of all runs of a client.
func (r *result) values(client string, w row) (values []float64) {
	phase := w.phase
	if client != ours && w.theirs != "" {
		phase = w.theirs
	}
	for _, s := range r.Samples {
		if s.Client != client || s.Variant != w.variant {
			continue
		}
		for _, p := range s.Phases {
			if p.Phase == phase {
				values = append(values, of(w.metric, p))
			}
		}
	}
	return values
}

// peers are the clients beside kube that have results.
func (r *result) peers() (peers []string) {
	for _, c := range clients[1:] {
		for _, s := range r.Samples {
			if s.Client == c {
				peers = append(peers, c)
				break
			}
		}
	}
	return peers
}
