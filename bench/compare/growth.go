package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// line is a straight line through figures: what is used without an object, and what each adds.
type line struct {
	base, slope float64
	// off is how far the figure farthest from the line is, as a part of the figure.
	off float64
}

// fit returns the line whose squared distance from the figures is the least, each relative to its
// figure, so that small sizes count as much as large ones.
func fit(x, y []float64) line {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		weight := 1 / (y[i] * y[i])
		w += weight
		wx += weight * x[i]
		wy += weight * y[i]
		wxx += weight * x[i] * x[i]
		wxy += weight * x[i] * y[i]
	}
	var l line
	l.slope = (w*wxy - wx*wy) / (w*wxx - wx*wx)
	l.base = (wy - l.slope*wx) / w
	for i := range x {
		l.off = max(l.off, math.Abs(l.base+l.slope*x[i]-y[i])/y[i])
	}
	return l
}

// curve returns the figures of a client, by size.
func (r *result) curve(client, phase, metric string) (x, y []float64) {
	for _, v := range r.Variants {
		values := r.values(client, row{variant: v.Name, phase: phase, metric: metric})
		n, err := strconv.ParseFloat(v.Name, 64)
		if err != nil || len(values) == 0 {
			continue
		}
		x, y = append(x, n), append(y, median(values))
	}
	return x, y
}

// growth is the name of the scenario.
const growth = "growth"

// dearer is how much more an event may cost in a large cache than in the smallest one.
const dearer = 1.2

// dearerEvents says in which caches an event costs kube more than it may.
func (r *result) dearerEvents() (missed []string) {
	x, y := r.curve(ours, "events", cpuEach)
	for i := range x {
		if y[i] > y[0]*dearer {
			missed = append(missed, fmt.Sprintf("%s, events: %s with %.0f objects and %s with %.0f, at most %.0f %% more is the target", growth, duration(y[i]), x[i], duration(y[0]), x[0], (dearer-1)*100))
		}
	}
	return missed
}

// growthPanels are what grows.
var growthPanels = []struct{ title, phase, metric string }{
	{"First sync: CPU", "sync", cpu},
	{"Memory afterwards", "sync", settled},
	{"CPU of an event", "events", cpuEach},
}

// slopes returns what an object adds, as a table.
func (r *result) slopes() string {
	lines := [][]string{{"", "without objects", "each object adds", "farthest from the line"}}
	for _, panel := range growthPanels[:2] {
		for _, c := range r.shown() {
			x, y := r.curve(c, panel.phase, panel.metric)
			if len(x) < 3 {
				continue
			}
			l := fit(x, y)
			each := duration(l.slope)
			if panel.metric == settled {
				each = fmt.Sprintf("%.0f bytes", l.slope)
			}
			lines = append(lines, []string{c + ": " + panel.title, human(panel.metric, l.base), each, fmt.Sprintf("%.0f %%", l.off*100)})
		}
	}
	return grid(lines)
}

// curves draws a panel for each thing that grows, with a line for each client.
func (r *result) curves() string {
	const left, right, height = 90, plotWidth - 30, 190
	p := &plotter{y: 12}
	p.legend(r.shown())
	for _, panel := range growthPanels {
		var mostX, mostY float64
		for _, c := range r.shown() {
			x, y := r.curve(c, panel.phase, panel.metric)
			for i := range x {
				mostX, mostY = max(mostX, x[i]), max(mostY, y[i])
			}
		}
		if mostX == 0 {
			continue
		}
		p.text(12, p.y+12, "start", "title", "%s", panel.title)
		top, bottom := p.y+26, p.y+26+height
		fmt.Fprintf(&p.body, `<path d="M%d %d V%d H%d" class="axis"/>`+"\n", left, top, bottom, right)
		p.text(left-8, top+8, "end", "muted", "%s", human(panel.metric, mostY))
		p.text(left-8, bottom, "end", "muted", "0")
		p.text(right, bottom+16, "end", "muted", "%.0f objects", mostX)
		for _, c := range r.shown() {
			x, y := r.curve(c, panel.phase, panel.metric)
			var path strings.Builder
			for i := range x {
				px, py := left+x[i]/mostX*(right-left), float64(bottom)-y[i]/mostY*height
				fmt.Fprintf(&path, "%c%.1f %.1f ", "ML"[min(i, 1)], px, py)
				fmt.Fprintf(&p.body, `<circle cx="%.1f" cy="%.1f" r="3" class="%s"><title>%s: %s</title></circle>`+"\n", px, py, class(c), c, human(panel.metric, y[i]))
			}
			fmt.Fprintf(&p.body, `<path d="%s" class="l-%s"/>`+"\n", strings.TrimSpace(path.String()), class(c))
		}
		p.y = bottom + 36
	}
	return p.document(r.shown())
}
