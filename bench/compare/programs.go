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
	"strconv"

	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/bench/internal/replay"
)

// The programs, by the name that they have in tables. Their folders are those of this module.
const (
	ours         = "kube"
	clientGo     = "client-go"
	ctrlRuntime  = "controller-runtime"
	kubeRS       = "kube-rs"
	oursFolder   = "ours"
	kubeRSFolder = "kubers"
)

// clients are all programs in the order of tables.
var clients = []string{ours, clientGo, ctrlRuntime, kubeRS}

// programs are the paths of what was built.
type programs map[string]string

// buildPrograms builds every program into a folder.
func buildPrograms(ctx context.Context, bin string) (programs, error) {
	p := programs{}
	for name, folder := range map[string]string{ours: oursFolder, clientGo: "clientgo", ctrlRuntime: "ctrlruntime"} {
		p[name] = filepath.Join(bin, folder)
		if err := buildGo(ctx, p[name], "./"+folder); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// buildGo builds a program as it is put into an image: without symbols.
func buildGo(ctx context.Context, to, folder string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", to, folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", folder, err, out)
	}
	return nil
}

// job is one run of one program.
type job struct {
	program  string
	args     measure.Args
	profiles string
}

// execute runs a job against a server of its own.
func execute(ctx context.Context, j job, objects *replay.Objects) ([]measure.Phase, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	handler := replay.NewServer(objects)
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	defer server.Close()
	a := j.args
	cmd := exec.CommandContext(ctx, j.program,
		"-server", "http://"+listener.Addr().String(), "-scenario", a.Scenario, "-kind", a.Kind, "-format", a.Format,
		"-objects", strconv.Itoa(a.Objects), "-events", strconv.Itoa(a.Events), "-rate", strconv.Itoa(a.Rate),
		"-window", strconv.Itoa(a.Window), "-workers", strconv.Itoa(a.Workers), "-profiles", j.profiles)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s (the server saw %s): %w", cmd, handler.Requests(), err)
	}
	return parsePhases(&out)
}

// parsePhases reads what a program has printed.
func parsePhases(out *bytes.Buffer) ([]measure.Phase, error) {
	var phases []measure.Phase
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var p measure.Phase
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("a line of the program: %w: %s", err, lines.Text())
		}
		phases = append(phases, p)
	}
	return phases, nil
}
