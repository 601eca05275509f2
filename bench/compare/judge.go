package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// tolerance is by how much a target may be missed.
const tolerance = 1.1

// verdict is how often targets were met, and what is to be said of those that were not.
type verdict struct {
	targets         int
	missed, limited []string
}

func verdictOn(all []*result) (v verdict) {
	for _, r := range all {
		if r.scenario.Name == growth {
			v.targets++
			v.missed = append(v.missed, r.dearerEvents()...)
		}
		for _, w := range r.scenario.rows {
			for _, t := range r.targets(w) {
				v.targets++
				q := ratioOf(r.values(ours, w), r.values(t.peer, w))
				text := fmt.Sprintf("%s, %s, %s, %s: %s of %s, the target is %.2f", r.scenario.Name, w.variant, w.phase, w.metric, q, t.peer, t.ratio)
				switch {
				case q.median <= t.ratio*tolerance:
				case w.limit != "":
					v.limited = append(v.limited, text+": "+w.limit)
				default:
					v.missed = append(v.missed, text)
				}
			}
		}
	}
	return v
}

// judge says which targets are missed, and fails with -check if any is that need not be.
func judge(w io.Writer, s settings, all []*result) error {
	v := verdictOn(all)
	if len(v.limited) > 0 {
		fmt.Fprintf(w, "\n%d of %d targets are out of reach:\n  %s\n", len(v.limited), v.targets, strings.Join(v.limited, "\n  "))
	}
	if len(v.missed) == 0 {
		fmt.Fprintf(w, "\n%d of %d targets hold.\n", v.targets-len(v.limited), v.targets)
		return nil
	}
	text := fmt.Sprintf("%d of %d targets are missed by more than 10 %%:\n  %s", len(v.missed), v.targets, strings.Join(v.missed, "\n  "))
	if s.check {
		return errors.New(text)
	}
	fmt.Fprintln(w, "\n"+text)
	return nil
}
