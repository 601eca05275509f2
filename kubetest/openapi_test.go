package kubetest

import (
	"encoding/json/v2"
	"net/http"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// linksOf returns the links of the index of OpenAPI documents.
func linksOf(t *testing.T, s *Server) map[string]string {
	t.Helper()
	w := answerTo(s, "/openapi/v3", nil)
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &index); err != nil || w.Code != http.StatusOK {
		t.Fatalf("/openapi/v3: %d, %v", w.Code, err)
	}
	links := map[string]string{}
	for path, p := range index.Paths {
		links[path] = p.ServerRelativeURL
	}
	return links
}

func TestOpenAPIHasADocumentForEachVersion(t *testing.T) {
	s := Start(t, nil)
	links := linksOf(t, s)
	for _, k := range s.kinds.catalog().kinds {
		path := "apis/" + k.Group + "/" + k.Version
		if k.Group == "" {
			path = "api/" + k.Version
		}
		if links[path] == "" {
			t.Errorf("%s of %s has no document", k.Kind, path)
		}
	}
	if len(links) < 40 {
		t.Errorf("%d documents, want those of a real server, more than 40", len(links))
	}
}

func TestOpenAPIDocument(t *testing.T) {
	s := Start(t, nil)
	link := linksOf(t, s)["apis/apps/v1"]
	w := answerTo(s, link, nil)
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, immutable" {
		t.Errorf("%s: %d, Cache-Control %q, want 200 and public, immutable", link, w.Code, w.Header().Get("Cache-Control"))
	}
	var document struct {
		Paths      map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if document.Paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"] == nil || document.Components.Schemas["io.k8s.api.apps.v1.Deployment"] == nil {
		t.Errorf("%s: no path of a deployment, or no schema of it", link)
	}
	other := answerTo(s, "/openapi/v3/apis/apps/v1?hash=00", nil)
	if other.Code != http.StatusMovedPermanently || other.Header().Get("Location") != link {
		t.Errorf("another hash: %d to %q, want 301 to %q", other.Code, other.Header().Get("Location"), link)
	}
	again := answerTo(s, "/openapi/v3/apis/apps/v1", http.Header{"If-None-Match": {w.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified {
		t.Errorf("with If-None-Match: %d, want 304", again.Code)
	}
}

func TestOpenAPIProtobuf(t *testing.T) {
	s := Start(t, nil)
	for _, test := range []struct {
		path, accept string
		message      proto.Message
	}{
		{"/openapi/v3/apis/batch/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", &openapi_v3.Document{}},
		{"/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", &openapi_v2.Document{}},
	} {
		w := answerTo(s, test.path, http.Header{"Accept": {test.accept}})
		if got, want := w.Header().Get("Content-Type"), strings.Replace(test.accept, "@", ".", 1); got != want {
			t.Errorf("%s: Content-Type %q, want %q", test.path, got, want)
		}
		if err := proto.Unmarshal(w.Body.Bytes(), test.message); err != nil || w.Body.Len() < 10_000 {
			t.Errorf("%s: %d bytes, %v", test.path, w.Body.Len(), err)
		}
	}
}

func TestOpenAPIRefusals(t *testing.T) {
	s := Start(t, nil)
	for path, want := range map[string]int{
		"/openapi/v3/apis/nosuch/v1": http.StatusNotFound, "/openapi/v4": http.StatusNotFound, "/openapi/v2/x": http.StatusNotFound,
	} {
		if w := answerTo(s, path, nil); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1"} {
		if w := answerTo(s, path, http.Header{"Accept": {"text/html"}}); w.Code != http.StatusNotAcceptable {
			t.Errorf("%s as text/html: %d, want 406", path, w.Code)
		}
	}
}
