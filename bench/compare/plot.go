package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
)

// Plots are SVG, with colours that follow the reader's preference for light or dark.
const (
	plotWidth = 860
	labelsTo  = 400 // where bars begin
	barsTo    = 760 // where the longest one ends
	barHeight = 15
	groupGap  = 12
)

// colours are those of the clients: in light, in dark.
var colours = map[string][2]string{
	ours:         {"#0969da", "#4493f8"},
	clientGo:     {"#bf8700", "#d29922"},
	ctrlRuntime:  {"#cf222e", "#f85149"},
	kubeRS:       {"#8250df", "#ab7df8"},
	apimachinery: {"#bf8700", "#d29922"},
}

// class is the name of a client's colour.
func class(client string) string { return "c-" + strings.ReplaceAll(client, "-", "") }

// plotter writes an SVG from top to bottom.
type plotter struct {
	body strings.Builder
	y    int
}

func (p *plotter) text(x, y int, anchor, class, format string, args ...any) {
	fmt.Fprintf(&p.body, `<text x="%d" y="%d" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, html.EscapeString(fmt.Sprintf(format, args...)))
}

// document returns the whole, for those clients.
func (p *plotter) document(clients []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12">`+"\n", plotWidth, p.y, plotWidth, p.y)
	b.WriteString("<style>\n.text { fill: #1f2328 } .muted { fill: #59636e } .title { fill: #1f2328; font-weight: 600 } .axis { stroke: #d1d9e0; fill: none }\n")
	rules := func(theme int) {
		for _, c := range clients {
			fmt.Fprintf(&b, ".%s { fill: %s } .l-%s { stroke: %s; fill: none; stroke-width: 2 }\n", class(c), colours[c][theme], class(c), colours[c][theme])
		}
	}
	rules(0)
	b.WriteString("@media (prefers-color-scheme: dark) {\n.text { fill: #f0f6fc } .muted { fill: #9198a1 } .title { fill: #f0f6fc } .axis { stroke: #3d444d }\n")
	rules(1)
	b.WriteString("}\n</style>\n")
	b.WriteString(p.body.String())
	b.WriteString("</svg>\n")
	return b.String()
}

// legend writes which colour is whose.
func (p *plotter) legend(clients []string) {
	x := 12
	for _, c := range clients {
		fmt.Fprintf(&p.body, `<rect x="%d" y="%d" width="12" height="12" rx="2" class="%s"/>`+"\n", x, p.y, class(c))
		p.text(x+17, p.y+10, "start", "text", "%s", c)
		x += 40 + 7*len(c)
	}
	p.y += 28
}

// writePlot writes the plot of a result into a folder.
func (r *result) writePlot(folder string) error {
	plot := r.bars()
	if r.scenario.Name == growth {
		plot = r.curves()
	}
	return os.WriteFile(filepath.Join(folder, r.scenario.Name+".svg"), []byte(plot), 0o644)
}

// shown are the clients that have results, kube first.
func (r *result) shown() []string { return append([]string{ours}, r.peers()...) }

// bars draws a group of bars for each row of the table, the longest of which is as wide as there is
// room for.
func (r *result) bars() string {
	p := &plotter{y: 12}
	p.legend(r.shown())
	for _, w := range r.scenario.rows {
		largest := 0.0
		for _, c := range r.shown() {
			largest = max(largest, median(r.values(c, w)))
		}
		if largest == 0 {
			continue
		}
		p.text(labelsTo-10, p.y+11, "end", "text", "%s: %s,", w.variant, w.phase)
		p.text(labelsTo-10, p.y+11+barHeight, "end", "muted", "%s", w.metric)
		top := p.y
		for _, c := range r.shown() {
			values := r.values(c, w)
			if len(values) == 0 {
				continue
			}
			width := max(1, int(median(values)/largest*(barsTo-labelsTo)))
			fmt.Fprintf(&p.body, `<rect x="%d" y="%d" width="%d" height="%d" rx="2" class="%s"><title>%s</title></rect>`+"\n", labelsTo, p.y, width, barHeight-3, class(c), html.EscapeString(c))
			p.text(labelsTo+width+6, p.y+10, "start", "muted", "%s", human(w.metric, median(values)))
			p.y += barHeight
		}
		p.y = max(p.y, top+2*barHeight) + groupGap
	}
	return p.document(r.shown())
}
