package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// tolerance is by how much a target may be missed.
const tolerance = 1.1

// judge says which targets are missed, and fails with -check if any is.
func judge(w io.Writer, s settings, all []*result) error {
	var missed []string
	targets := 0
	for _, r := range all {
		for _, row := range r.scenario.rows {
			mine, theirs := r.values(ours, row), r.values(row.peer, row)
			if row.target == 0 || len(mine) == 0 || len(theirs) == 0 {
				continue
			}
			targets++
			if q := ratioOf(mine, theirs); q.median > row.target*tolerance {
				missed = append(missed, fmt.Sprintf("%s, %s, %s, %s: %s of %s, the target is %.2f", r.scenario.Name, row.variant, row.phase, row.metric, q, row.peer, row.target))
			}
		}
	}
	if len(missed) == 0 {
		fmt.Fprintf(w, "\nAll %d targets hold.\n", targets)
		return nil
	}
	text := fmt.Sprintf("%d of %d targets are missed by more than 10 %%:\n  %s", len(missed), targets, strings.Join(missed, "\n  "))
	if s.check {
		return errors.New(text)
	}
	fmt.Fprintln(w, "\n"+text)
	return nil
}
