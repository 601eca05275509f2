package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// masks are what differs from run to run, and what is put in its place.
var masks = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( UTC)?`), "TIME"},
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "TIME"},
	{regexp.MustCompile(`(?i)(resource ?version\\?"?: *)(\\?")?\d+(\\?")?`), "${1}VERSION"},
	{regexp.MustCompile(`\b10\.0\.\d+\.\d+\b`), "ADDRESS"},
	{regexp.MustCompile(`gitCommit: .*`), "gitCommit: COMMIT"},
	{regexp.MustCompile(`[WIE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `), "LOG "},
	{regexp.MustCompile(`X509SHA256=[0-9a-f]+`), "HASH"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "SERVER"},
	{regexp.MustCompile(`\b\d+(ms|s|m|h|d)(\d+(s|m|h))?( ago)?\b`), "AGE"},
	{regexp.MustCompile(`<invalid>`), "AGE"},
	{regexp.MustCompile(`/tmp/[A-Za-z]+-\d+/[^ :]*`), "FILE"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(`-{3,}`), "---"},
}

// masked returns text without what differs from run to run. That includes the order of the
// things that are wrong with a custom resource: it is the one in which a server goes over a map.
func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.text)
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	sortItems(lines)
	return strings.Join(lines, "\n")
}

// sortItems sorts each run of lines that are items of a list.
func sortItems(lines []string) {
	isItem := func(line string) bool { return strings.HasPrefix(line, "* ") }
	for start := 0; start < len(lines); start++ {
		end := start
		for end < len(lines) && isItem(lines[end]) {
			end++
		}
		slices.Sort(lines[start:end])
		start = max(start, end-1)
	}
}

// shown is an output as it is compared.
func shown(o output) string {
	return fmt.Sprintf("exit %d\n%s\n--- stderr\n%s", o.Code, masked(o.Stdout), masked(o.Stderr))
}

// compare prints the differences that are not allowed.
func compare(script []string, kubetest, real []output, allowed map[string]bool, verbose bool) error {
	same, explained, different, used := 0, 0, 0, map[string]bool{}
	for i, command := range script {
		diff := cmp.Diff(strings.Split(shown(real[i]), "\n"), strings.Split(shown(kubetest[i]), "\n"))
		switch {
		case diff == "":
			same++
			continue
		case allowed[command]:
			explained++
			used[command] = true
			if !verbose {
				continue
			}
		default:
			different++
		}
		fmt.Printf("$ %s (-real +kubetest)\n%s\n", command, indent(diff))
	}
	fmt.Printf("%d commands: %d the same, %d differ as allowed, %d differ\n", len(script), same, explained, different)
	for command := range allowed {
		if !used[command] {
			fmt.Printf("allowed.txt: no longer needed: %s\n", command)
			different++
		}
	}
	if different > 0 {
		return errDiffers
	}
	return nil
}

// readAllowed reads the commands whose outputs may differ. Each has the reason in comments
// above it.
func readAllowed(path string) (map[string]bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	allowed, reason, number := map[string]bool{}, false, 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			reason = false
		case line[0] == '#':
			reason = true
		case !reason:
			return nil, fmt.Errorf("%s:%d: an exception needs a reason in a comment above it", path, number)
		default:
			allowed[line] = true
		}
	}
	return allowed, nil
}
