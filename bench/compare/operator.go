package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-kube/kube/bench/internal/measure"
)

// idleAfter is how long an operator has been running when its memory is read.
const idleAfter = 4 * time.Second

// operatorScenario measures the smallest operator of each library. How long its build takes from an
// empty cache is only found out in the full run, once.
func operatorScenario(full bool) scenario {
	s := scenario{
		Name:     "operator",
		Title:    "The smallest operator: a controller of one custom resource, of which there are ten",
		variants: []variant{{"operator", measure.Args{Kind: "webapps", Format: "json", Objects: 10}, []string{ours, ctrlRuntime, kubeRS}}},
		work:     (&operators{full: full}).measure,
		rows: []row{
			row{variant: "operator", phase: "idle", metric: settled}.aim(0.5, ctrlRuntime).as("Idle operator: memory"),
			row{variant: "operator", phase: "idle", metric: cpu},
			row{variant: "operator", phase: "stripped binary", metric: size}.aim(0.4, ctrlRuntime).as("Its stripped binary"),
			row{variant: "operator", phase: "packages or crates of others in it", metric: count},
		},
	}
	if full {
		s.rows = append(s.rows, row{variant: "operator", phase: "build from an empty cache", metric: cpu}.aim(0.35, ctrlRuntime).as("Its build from an empty cache: CPU"))
	}
	return s
}

// operators measures operators, and remembers what does not change between runs.
type operators struct {
	full   bool
	built  map[string]string // paths of binaries, by client
	static map[string][]measure.Phase
}

func (o *operators) measure(ctx context.Context, l *lab, v variant, client string) ([]measure.Phase, error) {
	if o.static == nil {
		o.static, o.built = map[string][]measure.Phase{}, map[string]string{}
	}
	if o.static[client] == nil {
		begin := time.Now()
		phases, path, err := o.build(ctx, client, filepath.Join(l.bin, "operator-"+client))
		if err != nil {
			return nil, err
		}
		l.building += time.Since(begin)
		o.static[client], o.built[client] = phases, path
	}
	idle, err := idle(ctx, l, v.Args, o.built[client])
	return append([]measure.Phase{idle}, o.static[client]...), err
}

// build builds an operator and returns what that says: the size of the binary, the number of
// packages, and in the full run the cost of a build from an empty cache.
func (o *operators) build(ctx context.Context, client, binary string) (phases []measure.Phase, path string, err error) {
	var packages int64
	if client == kubeRS {
		if path, err = buildRust(ctx, "idle"); err == nil {
			packages, err = countCrates(ctx)
		}
	} else {
		path = binary
		if err = buildGo(ctx, path, goOperator(client)); err == nil {
			packages, err = countPackages(ctx, goOperator(client))
		}
	}
	if err != nil {
		return nil, "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	phases = []measure.Phase{
		{Phase: "stripped binary", Count: info.Size()},
		{Phase: "packages or crates of others in it", Count: packages},
	}
	if o.full {
		cold, err := coldBuild(ctx, client)
		if err != nil {
			return nil, "", err
		}
		phases = append(phases, cold)
	}
	return phases, path, nil
}

func goOperator(client string) string { return "./" + folders[client] + "/idle" }

// countPackages returns how many packages a program has beside those of the standard library.
func countPackages(ctx context.Context, folder string) (int64, error) {
	out, err := output(exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", folder))
	return int64(len(strings.Fields(out))), err
}

// countCrates returns how many crates the kube-rs peer has.
func countCrates(ctx context.Context) (int64, error) {
	out, err := output(exec.CommandContext(ctx, "cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--manifest-path", filepath.Join("kubers", "Cargo.toml")))
	crates := map[string]bool{}
	for line := range strings.Lines(out) {
		crates[strings.TrimSuffix(strings.TrimSpace(line), " (*)")] = true
	}
	return int64(len(crates) - 1), err // without the peer itself
}

// coldBuild builds an operator with nothing in the build cache. What has to be downloaded is there
// already.
func coldBuild(ctx context.Context, client string) (p measure.Phase, err error) {
	cache, err := os.MkdirTemp("", "kube-bench-cold-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(cache)
	progress("building the operator of %s from an empty cache", client)
	var cmd *exec.Cmd
	if client == kubeRS {
		cmd = cargo(ctx, cache, "idle")
	} else {
		cmd = exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(cache, "operator"), goOperator(client))
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(cache, "go"))
	}
	begin := time.Now()
	if _, err := output(cmd); err != nil {
		return p, err
	}
	state := cmd.ProcessState
	return measure.Phase{Phase: "build from an empty cache", Wall: time.Since(begin).Seconds(), User: state.UserTime().Seconds(), System: state.SystemTime().Seconds(), Count: 1}, nil
}

// idle starts an operator, which finds its server by KUBECONFIG, and reads after a while what it
// has used.
func idle(ctx context.Context, l *lab, args measure.Args, binary string) (p measure.Phase, err error) {
	objects, err := encode(args)
	if err != nil {
		return p, err
	}
	address, handler, stop, err := serve(objects)
	if err != nil {
		return p, err
	}
	defer stop()
	kubeconfig := filepath.Join(l.bin, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, kubeconfigText, address), 0o600); err != nil {
		return p, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	defer func() {
		cancel()
		cmd.Wait()
	}()
	if err := cmd.Start(); err != nil {
		return p, err
	}
	select {
	case <-ctx.Done():
		return p, ctx.Err()
	case <-time.After(idleAfter):
	}
	if p, err = readProcess(cmd.Process.Pid); err != nil {
		cancel()
		cmd.Wait()
		return p, fmt.Errorf("%s (the server saw %s): %w\n%s", binary, handler.Requests(), err, &log)
	}
	if !handler.Watched() {
		cancel()
		cmd.Wait()
		return p, fmt.Errorf("%s does not watch (the server saw %s)\n%s", binary, handler.Requests(), &log)
	}
	return p, nil
}

const kubeconfigText = `apiVersion: v1
kind: Config
clusters: [{name: replay, cluster: {server: %q}}]
contexts: [{name: replay, context: {cluster: replay, user: nobody}}]
users: [{name: nobody, user: {}}]
current-context: replay
`

// readProcess reads from /proc what a process has used.
func readProcess(pid int) (p measure.Phase, err error) {
	p = measure.Phase{Phase: "idle", Count: 1}
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		into := map[string]*int64{"VmRSS": &p.Settled, "VmHWM": &p.Peak}[name]
		if into == nil {
			continue
		}
		var kib int64
		if _, err := fmt.Sscanf(strings.TrimSpace(value), "%d kB", &kib); err != nil {
			return p, err
		}
		*into = kib << 10
	}
	p.User, p.System, err = processorTime(pid)
	return p, err
}

// processorTime reads fields 14 and 15 of /proc/PID/stat: hundredths of seconds; see proc(5).
func processorTime(pid int) (user, system float64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// The second field, the name in parentheses, may have spaces in it.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	return user / 100, system / 100, err
}
