package main

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// outcome is what became of a spec.
type outcome struct {
	State   string
	Message string
}

func (o outcome) passed() bool { return o.State == "passed" }

// result is what became of the specs of a suite, by name and server.
type result struct {
	suite suite
	specs map[string]map[string]outcome
}

// specReport has the members of ginkgo's JSON report that matter here.
type specReport struct {
	ContainerHierarchyTexts []string
	LeafNodeType            string
	LeafNodeText            string
	State                   string
	Failure                 struct{ Message string }
}

// read adds a report of a suite against a server.
func (r *result) read(server, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var reports []struct{ SpecReports []specReport }
	if err := json.Unmarshal(data, &reports); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			r.add(server, &spec)
		}
	}
	return nil
}

// add adds a spec. Those that never run (pending, or skipped by a label) are left out. A failure
// of what stands before and after the specs is a spec of its own.
func (r *result) add(server string, spec *specReport) {
	if spec.State == "pending" || spec.LeafNodeType != "It" && spec.State == "passed" {
		return
	}
	name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
	if spec.LeafNodeType != "It" {
		name = spec.LeafNodeType
	}
	name = r.unused(server, name)
	if r.specs[name] == nil {
		r.specs[name] = map[string]outcome{}
	}
	r.specs[name][server] = outcome{spec.State, spec.Failure.Message}
}

// unused returns name, with a number behind it if an earlier spec of the server has it.
func (r *result) unused(server, name string) string {
	unused := name
	for n := 2; ; n++ {
		if _, used := r.specs[unused][server]; !used {
			return unused
		}
		unused = fmt.Sprintf("%s (%d)", name, n)
	}
}

// passed counts the specs that passed against a server, and all of them.
func (r *result) passed(server string) (passed, all int) {
	for _, outcomes := range r.specs {
		o, ok := outcomes[server]
		if !ok || o.State == "skipped" {
			continue
		}
		all++
		if o.passed() {
			passed++
		}
	}
	return passed, all
}

// servers returns the servers that any spec ran against.
func servers(results []*result) []string {
	seen := map[string]bool{}
	for _, r := range results {
		for _, outcomes := range r.specs {
			for server := range outcomes {
				seen[server] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// printTable prints a line per suite.
func printTable(out io.Writer, results []*result) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	columns := servers(results)
	fmt.Fprintf(w, "suite\t%s\tdiffer\n", strings.Join(columns, "\t"))
	for _, r := range results {
		fmt.Fprintf(w, "pkg/%s", r.suite.name)
		for _, server := range columns {
			passed, all := r.passed(server)
			fmt.Fprintf(w, "\t%d of %d", passed, all)
		}
		fmt.Fprintf(w, "\t%d\n", len(r.differences()))
	}
	w.Flush()
}

// printSpecs prints a line per spec.
func printSpecs(out io.Writer, results []*result) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	columns := servers(results)
	fmt.Fprintf(w, "%s\tspec\n", strings.Join(columns, "\t"))
	for _, r := range results {
		for _, name := range slices.Sorted(maps.Keys(r.specs)) {
			for _, server := range columns {
				fmt.Fprintf(w, "%s\t", cmp.Or(r.specs[name][server].State, "-"))
			}
			fmt.Fprintf(w, "pkg/%s: %s\n", r.suite.name, name)
		}
	}
	w.Flush()
}

// differences returns the specs that pass against one server only.
func (r *result) differences() []string {
	var names []string
	for name, outcomes := range r.specs {
		k, hasK := outcomes["kubetest"]
		real, hasReal := outcomes["real"]
		if hasK && hasReal && k.passed() != real.passed() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// printFailures prints every spec that failed, with what ginkgo says about it.
func printFailures(out io.Writer, results []*result) {
	for _, r := range results {
		for _, name := range slices.Sorted(maps.Keys(r.specs)) {
			for _, server := range servers([]*result{r}) {
				if o, ok := r.specs[name][server]; ok && !o.passed() && o.State != "skipped" {
					fmt.Fprintf(out, "\npkg/%s, %s: %s (%s)\n%s\n", r.suite.name, server, name, o.State, indent(o.Message))
				}
			}
		}
	}
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
