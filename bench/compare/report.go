package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// judge says which targets are missed, and with -check fails if any is.
func judge(w io.Writer, s settings, results []*result) error {
	var missed []string
	for _, r := range results {
		for _, t := range r.scenario.targets {
			q := ratioOf(r.values(ours, t.variant, t.row), r.values(t.peer, t.variant, t.row))
			if q.median > t.ratio*1.1 {
				missed = append(missed, fmt.Sprintf("%s, %s, %s of %s: %.2f of %s, at most %.2f is the target", r.scenario.Name, t.variant, t.row.metric, t.row.phase, q.median, t.peer, t.ratio))
			}
		}
	}
	if len(missed) == 0 {
		return nil
	}
	text := "targets missed by more than 10 %:\n  " + strings.Join(missed, "\n  ")
	if s.check {
		return errors.New(text)
	}
	fmt.Fprintln(w, "\n"+text)
	return nil
}

// lines are the table of a result, its head first.
func (r *result) lines() [][]string {
	head := []string{"", ours}
	var peers []string
	for _, c := range clients[1:] {
		if r.has(c) {
			peers = append(peers, c)
			head = append(head, c, "ratio")
		}
	}
	lines := [][]string{append(head, "target")}
	for _, v := range r.Variant {
		for _, w := range r.scenario.rows {
			lines = append(lines, r.line(v.Name, w, peers))
		}
	}
	return lines
}

func (r *result) line(variant string, w row, peers []string) []string {
	mine := r.values(ours, variant, w)
	line := []string{fmt.Sprintf("%s: %s, %s", variant, w.phase, w.metric), human(w.metric, median(mine))}
	for _, peer := range peers {
		theirs := r.values(peer, variant, w)
		if len(theirs) == 0 {
			line = append(line, "", "")
			continue
		}
		line = append(line, human(w.metric, median(theirs)), ratioOf(mine, theirs).String())
	}
	goal := ""
	for _, t := range r.scenario.targets {
		if t.variant == variant && t.row == w {
			goal = fmt.Sprintf("%.2f of %s", t.ratio, t.peer)
		}
	}
	return append(line, goal)
}

func (r *result) has(client string) bool {
	for _, s := range r.Samples {
		if s.Client == client {
			return true
		}
	}
	return false
}

// table sets lines as a Markdown table whose columns are aligned.
func table(lines [][]string) string {
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
