// Package deptest holds a package to the imports that it may have.
package deptest

import (
	"os/exec"
	"strings"
	"testing"
)

// Apimachinery is k8s.io/apimachinery and what it brings along.
func Apimachinery() []string {
	return []string{
		"k8s.io/apimachinery", "k8s.io/klog/v2", "k8s.io/utils", "k8s.io/kube-openapi", "sigs.k8s.io/json",
		"sigs.k8s.io/randfill", "sigs.k8s.io/structured-merge-diff", "github.com/fxamacker/cbor",
		"github.com/go-logr/logr", "github.com/json-iterator/go", "github.com/modern-go",
		"github.com/x448/float16", "go.yaml.in/yaml/v2", "golang.org/x/net", "golang.org/x/text",
		"gopkg.in/inf.v0",
	}
}

// Allow fails the test when the package under test depends, directly or not, on a package
// outside of the standard library that is none of the given ones and none of [Apimachinery]'s. A
// path that ends in /... allows what stands below it too. Test files do not count.
func Allow(t *testing.T, packages ...string) {
	t.Helper()
	allowed := packages
	for _, path := range Apimachinery() {
		allowed = append(allowed, path+"/...")
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	var complaint strings.Builder
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list -deps: %v\n%s", err, &complaint)
	}
	deps := strings.Fields(string(out))
	if len(deps) == 0 {
		t.Fatal("go list -deps named no package, not even this one")
	}
	self := deps[len(deps)-1] // go list puts the package itself last
	for _, dep := range deps {
		if dep != self && !below(dep, allowed) {
			t.Errorf("%s depends on %s, which is not among the imports it may have", self, dep)
		}
	}
}

func below(dep string, allowed []string) bool {
	for _, path := range allowed {
		parent, tree := strings.CutSuffix(path, "/...")
		if dep == parent || tree && strings.HasPrefix(dep, parent+"/") {
			return true
		}
	}
	return false
}
