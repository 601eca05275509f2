package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What is generated stands between these lines of a document.
const (
	generatedFrom = "<!-- written by make bench-full or compare -report: from here -->\n"
	generatedTo   = "<!-- written by make bench-full or compare -report: to here -->\n"
)

// writeDocuments writes the tables into docs/performance.md, and the short one into README.md if
// that has a place for it.
func writeDocuments(all []*result) error {
	if err := replace(filepath.Join("..", "docs", "performance.md"), performance(all)); err != nil {
		return err
	}
	err := replace(filepath.Join("..", "README.md"), summary(all))
	if errors.Is(err, errNoPlace) {
		return nil
	}
	return err
}

var errNoPlace = errors.New("there is no place for the tables")

// replace writes text between the lines that say where it goes.
func replace(path, text string) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNoPlace)
	}
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), generatedFrom)
	_, after, end := strings.Cut(rest, generatedTo)
	if !ok || !end {
		return fmt.Errorf("%s: %w: the lines %q and %q", path, errNoPlace, generatedFrom, generatedTo)
	}
	return os.WriteFile(path, []byte(before+generatedFrom+text+generatedTo+after), 0o644)
}

// performance is the generated part of docs/performance.md.
func performance(all []*result) string {
	var b strings.Builder
	b.WriteString("\n" + provenance(all) + "\nSettings:\n\n")
	for _, c := range clients {
		if settingsOf[c] != "" {
			fmt.Fprintf(&b, "- %s: %s.\n", c, settingsOf[c])
		}
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n%s\n%s", strings.ToUpper(r.scenario.Name[:1])+r.scenario.Name[1:], r.Title, r.table(), r.provenance())
		if r.scenario.Name == growth {
			b.WriteString("\nStraight lines through these figures:\n\n" + r.slopes())
		}
		fmt.Fprintf(&b, "\n![%s](../bench/results/%s.svg)\n", r.scenario.Name, r.scenario.Name)
	}
	b.WriteString("\n")
	return b.String()
}

// provenance says where the figures of all results come from. Each may have been measured by
// itself.
func provenance(all []*result) string {
	if len(all) == 0 {
		return ""
	}
	v := all[0].Versions
	text := fmt.Sprintf("On %s: client-go %s, controller-runtime %s", all[0].Machine, v.ClientGo, v.ControllerRuntime)
	if v.KubeRS != "" {
		text += fmt.Sprintf(", kube-rs %s (%s)", v.KubeRS, v.Rust)
	}
	kube := span(all, func(r *result) string { return r.Versions.Kube })
	if strings.Contains(kube, ",") {
		kube = "at the commits that docs/performance.md names"
	}
	return text + fmt.Sprintf(", %s; kube %s, %s, by %s. Medians of alternating runs.\n", v.Go, kube,
		span(all, func(r *result) string { return r.Date }),
		span(all, func(r *result) string { return "`" + r.Command + "`" }))
}

// span lists what results have, each thing once.
func span(all []*result, of func(*result) string) string {
	var seen []string
	for _, r := range all {
		if !slices.Contains(seen, of(r)) {
			seen = append(seen, of(r))
		}
	}
	return strings.Join(seen, ", ")
}

// provenance says how this result was measured.
func (r *result) provenance() string {
	runs := "one run"
	if r.Runs > 1 {
		runs = fmt.Sprintf("%d alternating runs", r.Runs)
	}
	return fmt.Sprintf("%s, kube %s, `%s`, %s. Ratios are kube's figure divided by the peer's, with the smallest and the largest of runs that followed one another.\n", r.Date, r.Versions.Kube, r.Command, runs)
}

// summary is the generated part of README.md: the rows that have a name there.
func summary(all []*result) string {
	lines := [][]string{{"", ours, clientGo, ctrlRuntime, kubeRS}}
	for _, r := range all {
		for _, w := range r.scenario.rows {
			if w.summary == "" || len(r.values(ours, w)) == 0 {
				continue
			}
			line := []string{w.summary, cell(w, r.values(ours, w))}
			for _, peer := range lines[0][2:] {
				text := cell(w, r.values(peer, w))
				if text != "" {
					text += fmt.Sprintf(" (%.2f)", ratioOf(r.values(ours, w), r.values(peer, w)).median)
				}
				line = append(line, text)
			}
			lines = append(lines, line)
		}
	}
	return "\n" + grid(lines) + "\nIn parentheses: kube's part of it. " + provenance(all) + "\n![A cache of 20 000 pods](bench/results/cache.svg)\n\n[docs/performance.md](docs/performance.md) has the rest.\n\n"
}
