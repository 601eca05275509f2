package main

import (
	"fmt"
	"slices"
	"strings"
)

// table returns a result as a table in Markdown.
func (r *result) table() string {
	head := []string{"", ours}
	for _, peer := range r.peers() {
		head = append(head, peer, "ratio")
	}
	lines := [][]string{append(head, "target")}
	for _, w := range r.scenario.rows {
		if line := r.line(w); line != nil {
			lines = append(lines, line)
		}
	}
	return grid(lines)
}

// line returns a row of the table, nil when nobody has a figure for it.
func (r *result) line(w row) []string {
	mine := r.values(ours, w)
	line := []string{fmt.Sprintf("%s: %s, %s", w.variant, w.phase, w.metric), cell(w, mine)}
	known := len(mine) > 0
	for _, peer := range r.peers() {
		theirs := r.values(peer, w)
		known = known || len(theirs) > 0
		line = append(line, cell(w, theirs))
		if len(mine) == 0 || len(theirs) == 0 {
			line = append(line, "")
		} else {
			line = append(line, ratioOf(mine, theirs).String())
		}
	}
	if !known {
		return nil
	}
	return append(line, r.goal(w))
}

// overview returns one table of the ratios that count, of all results: those with a name in README
// and those with a target.
func overview(all []*result) string {
	var peers []string
	for _, c := range clients[1:] {
		if slices.ContainsFunc(all, func(r *result) bool { return slices.Contains(r.peers(), c) }) && c != apimachinery {
			peers = append(peers, c)
		}
	}
	head := []string{"All of it", ours}
	for _, peer := range peers {
		head = append(head, "of "+peer)
	}
	lines := [][]string{append(head, "target")}
	for _, r := range all {
		for _, w := range r.scenario.rows {
			if len(r.values(ours, w)) > 0 && (w.summary != "" || len(r.targets(w)) > 0) {
				lines = append(lines, r.ratios(w, peers))
			}
		}
	}
	return grid(lines)
}

// ratios returns a row of the overview.
func (r *result) ratios(w row, peers []string) []string {
	name := w.summary
	if name == "" {
		name = fmt.Sprintf("%s, %s: %s, %s", r.scenario.Name, w.variant, w.phase, w.metric)
	}
	line := []string{name, cell(w, r.values(ours, w))}
	for _, peer := range peers {
		text := ""
		if theirs := r.values(peer, w); len(theirs) > 0 {
			text = ratioOf(r.values(ours, w), theirs).String()
		}
		line = append(line, text)
	}
	return append(line, r.goal(w))
}

// cell is the median of figures with its unit.
func cell(w row, values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return human(w.metric, median(values))
}

// targets are those of a row that there are figures for.
func (r *result) targets(w row) (targets []target) {
	for _, t := range w.targets {
		if len(r.values(ours, w)) > 0 && len(r.values(t.peer, w)) > 0 {
			targets = append(targets, t)
		}
	}
	return targets
}

// goal says what the targets are.
func (r *result) goal(w row) string {
	var goals []string
	for _, t := range r.targets(w) {
		goals = append(goals, fmt.Sprintf("%.2f of %s", t.ratio, t.peer))
	}
	return strings.Join(goals, ", ")
}

// grid sets lines, the first of which is the head, as a Markdown table whose columns are aligned.
func grid(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for n, line := range lines {
		for i, cell := range line {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
