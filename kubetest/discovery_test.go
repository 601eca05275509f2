package kubetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// answerTo has s answer GET path.
func answerTo(s *Server, path string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "kubetest.invalid"
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestDiscoveryIsThatOfARealServer(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/discovery.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, nil)
	for _, f := range archive.Files {
		path, aggregated := strings.CutSuffix(f.Name, " aggregated")
		header := http.Header{}
		if aggregated {
			header.Set("Accept", acceptAggregated)
		}
		w := answerTo(s, path, header)
		if diff := cmp.Diff(members(string(f.Data)), members(w.Body.String())); diff != "" || w.Code != http.StatusOK {
			t.Errorf("%s: %d (-real +kubetest):\n%s", f.Name, w.Code, diff)
		}
	}
}

// members breaks a JSON document into lines that can be compared: text stays text, so that the
// order of members counts.
func members(document string) []string {
	return strings.SplitAfter(strings.TrimSpace(document), `,{"`)
}

func TestAggregatedDiscoveryIsSentOnce(t *testing.T) {
	s := Start(t, nil)
	first := answerTo(s, "/apis", http.Header{"Accept": {acceptAggregated}})
	if got := first.Header().Get("Content-Type"); got != acceptAggregated {
		t.Errorf("Content-Type %q, want %q", got, acceptAggregated)
	}
	tag := first.Header().Get("ETag")
	again := answerTo(s, "/apis", http.Header{"Accept": {acceptAggregated}, "If-None-Match": {tag}})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("with If-None-Match %s: %d and %d bytes, want 304 and none", tag, again.Code, again.Body.Len())
	}
}

func TestNegotiationOfDiscovery(t *testing.T) {
	s := Start(t, nil)
	beta := strings.Replace(acceptAggregated, "v=v2", "v=v2beta1", 1)
	for _, test := range []struct{ path, accept, contentType string }{
		{"/apis", "", "application/json"},
		{"/apis", beta + ",application/json", "application/json"},
		{"/apis", acceptAggregated + ",application/json", acceptAggregated},
		{"/apis/apps", acceptAggregated + ",application/json", "application/json"},
		{"/apis", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"},
		{"/apis", "application/yaml", "application/yaml"},
		{"/apis", "text/html", ""},
		{"/apis/apps/v1", beta, ""},
	} {
		w := answerTo(s, test.path, http.Header{"Accept": {test.accept}})
		switch got := w.Header().Get("Content-Type"); {
		case test.contentType == "" && w.Code != http.StatusNotAcceptable:
			t.Errorf("%s, Accept %q: %d, want 406", test.path, test.accept, w.Code)
		case test.contentType != "" && (w.Code != http.StatusOK || got != test.contentType):
			t.Errorf("%s, Accept %q: %d %s, want %s", test.path, test.accept, w.Code, got, test.contentType)
		}
	}
}

func TestHealth(t *testing.T) {
	s := Start(t, nil)
	for path, want := range map[string]string{
		"/healthz":                          "ok",
		"/livez":                            "ok",
		"/readyz/informer-sync":             "ok",
		"/livez?verbose&exclude=etcd":       "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n",
		"/healthz?verbose=1&exclude=nosuch": "[+]ping ok\n[+]log ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for \"nosuch\"\nhealthz check passed\n",
	} {
		if w := answerTo(s, path, nil); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d %q, want %q", path, w.Code, w.Body, want)
		}
	}
	if w := answerTo(s, "/livez/nosuch", nil); w.Code != http.StatusNotFound {
		t.Errorf("a check that there is not: %d, want 404", w.Code)
	}
}
