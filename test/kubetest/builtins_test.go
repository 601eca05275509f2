package kubetest

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// TestBuiltins compares what both servers say to objects of built-in kinds, good and bad. Each
// file of testdata/builtins is about a kind: "path" is where its objects are, "object" is a
// valid one, and each line of "changes" makes an object of it that may not be. A line has one or
// more JSON pointers with a value in YAML, or none to remove what is there, with && between
// them. Every one of them is tried as a new object and as an update; "updates" has more, which are tried
// as updates only.
func TestBuiltins(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a real API server")
	}
	files, err := filepath.Glob("testdata/builtins/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata/builtins: %v", err)
	}
	p := newPair(t)
	total := 0
	for _, name := range files {
		k := readBuiltin(t, name)
		t.Run(k.name, func(t *testing.T) { total += p.compareBuiltin(t, k) })
	}
	t.Logf("%d answers compared", total)
}

// builtin is what a file says about a kind.
type builtin struct {
	name, path       string
	object           map[string]any
	changes, updates []string
}

func readBuiltin(t *testing.T, name string) *builtin {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	k := &builtin{name: strings.TrimSuffix(filepath.Base(name), ".txtar")}
	for _, f := range archive.Files {
		text := strings.TrimSpace(string(f.Data))
		switch f.Name {
		case "path":
			k.path = text
		case "object":
			if err := yaml.Unmarshal(f.Data, &k.object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		case "changes":
			k.changes = strings.Split(text, "\n")
		case "updates":
			k.updates = strings.Split(text, "\n")
		default:
			t.Fatalf("%s: unknown part %q", name, f.Name)
		}
	}
	return k
}

// compareBuiltin tries the changes of a kind, and returns how many answers it has compared.
func (p *pair) compareBuiltin(t *testing.T, k *builtin) int {
	meta := k.object["metadata"].(map[string]any)
	name := meta["name"].(string)
	base := marshalAny(t, k.object)
	p.compareExactly(t, "dry run", call{http.MethodPost, k.path + "?dryRun=All", jsonType, base})
	for _, line := range k.changes {
		p.compareExactly(t, "new "+line, call{http.MethodPost, k.path + "?dryRun=All", jsonType, changed(t, base, line)})
	}
	p.compareExactly(t, "create", call{http.MethodPost, k.path, jsonType, base})
	updates := append(k.changes, k.updates...)
	for _, line := range updates {
		live := p.live(t, k.path+"/"+name)
		p.compareExactly(t, "update "+line, call{http.MethodPatch, k.path + "/" + name + "?dryRun=All", "application/json-patch+json", jsonPatch(t, live, line)})
	}
	return 2 + len(k.changes) + len(updates)
}

// live returns an object as the real server has it.
func (p *pair) live(t *testing.T, path string) string {
	t.Helper()
	return marshalAny(t, p.askReal(t, call{method: http.MethodGet, path: path}).Body)
}

// volatile are fields whose values a server makes up.
var volatile = map[string]bool{"clusterIP": true, "clusterIPs": true, "nodePort": true, "healthCheckNodePort": true}

// compareExactly is compare with the order of the causes, and the message.
func (p *pair) compareExactly(t *testing.T, name string, c call) {
	t.Run(name, func(t *testing.T) {
		real, memory := p.exactReal(t, c), p.exactMemory(t, c)
		if real.Code < 300 {
			unprotect(real.Body)
			maskVolatile(real.Body)
			maskVolatile(memory.Body)
		}
		maskDiff(real.Body)
		maskDiff(memory.Body)
		if diff := cmp.Diff(real, memory); diff != "" {
			t.Errorf("%v: answers differ (-real +kubetest):\n%s\nbody: %s", c, diff, c.body)
		}
	})
}

// refusedDiff is what comes before a difference between two specs of internal types.
var refusedDiff = regexp.MustCompile(`(?s)((?:pod updates may not change fields other than|spec is immutable after creation)[^\n]*\n)[^,]*.*`)

// revision is the version of an object in an error of the storage.
var revision = regexp.MustCompile(`revision=\d+`)

// maskDiff replaces a difference that a real server makes of its internal types, and revisions.
func maskDiff(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if text, ok := member.(string); ok {
				v[name] = revision.ReplaceAllString(refusedDiff.ReplaceAllString(text, "${1}masked"), "revision=masked")
			}
			maskDiff(member)
		}
	case []any:
		for _, item := range v {
			maskDiff(item)
		}
	}
}

// unprotect removes the finalizer of a claim, which kubetest leaves out: there it would never go.
func unprotect(object map[string]any) {
	meta, _ := object["metadata"].(map[string]any)
	if cmp.Equal(meta["finalizers"], []any{"kubernetes.io/pvc-protection"}) {
		delete(meta, "finalizers")
	}
}

func maskVolatile(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if volatile[name] {
				v[name] = "masked"
			} else {
				maskVolatile(member)
			}
		}
	case []any:
		for _, item := range v {
			maskVolatile(item)
		}
	}
}

// pointerEdit is a change at a JSON pointer.
type pointerEdit struct {
	path   []string
	value  any
	remove bool
}

func parseEdits(t *testing.T, line string) []pointerEdit {
	t.Helper()
	var edits []pointerEdit
	for _, part := range strings.Split(line, " && ") {
		pointer, text, has := strings.Cut(strings.TrimSpace(part), " ")
		e := pointerEdit{remove: !has}
		for _, name := range strings.Split(pointer, "/")[1:] {
			e.path = append(e.path, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		if has {
			data, err := yaml.YAMLToJSON([]byte(text))
			if err == nil {
				err = json.Unmarshal(data, &e.value)
			}
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// changed returns an object in JSON with the changes of a line.
func changed(t *testing.T, object, line string) string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(object), &root); err != nil {
		t.Fatal(err)
	}
	for _, e := range parseEdits(t, line) {
		root = e.apply(root, e.path)
	}
	return marshalAny(t, root)
}

// apply returns value with the change; what is missing on the way is made.
func (e pointerEdit) apply(value any, path []string) any {
	if len(path) == 0 {
		return e.value
	}
	if list, ok := value.([]any); ok {
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i >= len(list):
			return append(list, e.apply(nil, path[1:]))
		case e.remove && len(path) == 1:
			return append(list[:i:i], list[i+1:]...)
		}
		list[i] = e.apply(list[i], path[1:])
		return list
	}
	m, ok := value.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	if e.remove && len(path) == 1 {
		delete(m, path[0])
		return m
	}
	m[path[0]] = e.apply(m[path[0]], path[1:])
	return m
}

// jsonPatch returns the JSON patch that makes the changes of a line: the top-level members that
// it changes are replaced, and metadata by its parts.
func jsonPatch(t *testing.T, object, line string) string {
	t.Helper()
	var before, after map[string]any
	if err := json.Unmarshal([]byte(object), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(changed(t, object, line)), &after); err != nil {
		t.Fatal(err)
	}
	patch := patchOf("", before, after, 2)
	return marshalAny(t, patch)
}

// patchOf returns the operations that make after of before, down to some depth.
func patchOf(at string, before, after map[string]any, depth int) []any {
	patch := []any{}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for name := range before {
		if _, ok := after[name]; !ok {
			patch = append(patch, map[string]any{"op": "remove", "path": at + "/" + escape.Replace(name)})
		}
	}
	for name, value := range after {
		old, had := before[name]
		if had && cmp.Equal(old, value) {
			continue
		}
		a, okA := old.(map[string]any)
		b, okB := value.(map[string]any)
		if okA && okB && depth > 1 && had {
			patch = append(patch, patchOf(at+"/"+escape.Replace(name), a, b, depth-1)...)
			continue
		}
		patch = append(patch, map[string]any{"op": "add", "path": at + "/" + escape.Replace(name), "value": value})
	}
	return patch
}

func marshalAny(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		t.Fatal(fmt.Errorf("%v: %w", value, err))
	}
	return string(data)
}
