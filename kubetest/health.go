package kubetest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// healthChecks are the checks below a path of health. All of them pass: a server in memory is
// there or it is not.
func healthChecks(path string) []string {
	checks := []string{"ping", "log", "etcd"}
	if path == "readyz" {
		checks = append(checks, "etcd-readiness", "informer-sync", "shutdown")
	}
	return checks
}

// healthEndpoint answers /healthz, /livez, /readyz and their single checks; nil where there is
// no such check.
func healthEndpoint(path, check string) handler {
	switch {
	case check == "":
		return func(w http.ResponseWriter, rq *request) error { return serveHealth(w, rq, path) }
	case slices.Contains(healthChecks(path), check):
		return func(w http.ResponseWriter, _ *request) error { return writeText(w, "ok") }
	}
	return nil
}

// serveHealth answers ok, or with each check where the client wants to know.
func serveHealth(w http.ResponseWriter, rq *request, path string) error {
	if !rq.query.Has("verbose") {
		return writeText(w, "ok")
	}
	var out bytes.Buffer
	excluded := slices.Clone(rq.query["exclude"])
	for _, check := range healthChecks(path) {
		word := "ok"
		if slices.Contains(excluded, check) {
			word = "excluded: ok"
			excluded = slices.DeleteFunc(excluded, func(s string) bool { return s == check })
		}
		fmt.Fprintf(&out, "[+]%s %s\n", check, word)
	}
	if len(excluded) > 0 {
		fmt.Fprintf(&out, "warn: some health checks cannot be excluded: no matches for %s\n", quoted(excluded))
	}
	fmt.Fprintf(&out, "%s check passed\n", path)
	return writeText(w, out.String())
}

func quoted(names []string) string {
	slices.Sort(names)
	return `"` + strings.Join(slices.Compact(names), `","`) + `"`
}

func writeText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprint(w, text)
	return nil
}

// serveIndex answers / with the paths that there are.
func serveIndex(w http.ResponseWriter, rq *request) error {
	paths := []string{"/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"}
	for _, g := range rq.server.discovery().groups {
		base := "/apis/" + g.name
		if g.name == "" {
			base = "/api"
		} else {
			paths = append(paths, base)
		}
		for _, v := range g.versions {
			paths = append(paths, base+"/"+v.name)
		}
	}
	for _, path := range []string{"healthz", "livez", "readyz"} {
		paths = append(paths, "/"+path)
		for _, check := range healthChecks(path) {
			paths = append(paths, "/"+path+"/"+check)
		}
	}
	slices.Sort(paths)
	return rq.respondIndented(w, metav1.RootPaths{Paths: paths})
}
