package kubetest

import (
	"crypto/sha512"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/go-kube/kube/kubetest/internal/recorded"
)

// openAPI is the OpenAPI documents about the kinds of one catalog. They are made when they are
// first asked for. Their number does not change.
type openAPI struct {
	catalog *catalog
	v3      map[string]*openAPIDocument // by path: apis/apps/v1
	v2      *openAPIDocument
}

// openAPIDocument is a document in its two encodings.
type openAPIDocument struct {
	json     func() ([]byte, error)
	protobuf func() ([]byte, error)
	tag      func() (string, error)
}

// newDocument returns a document that make makes. Its hash is tag, or that of the JSON.
func newDocument(tag string, makeJSON func() ([]byte, error), toProtobuf func([]byte) ([]byte, error)) *openAPIDocument {
	d := &openAPIDocument{json: sync.OnceValues(makeJSON)}
	d.protobuf = sync.OnceValues(func() ([]byte, error) {
		data, err := d.json()
		if err != nil {
			return nil, err
		}
		return toProtobuf(data)
	})
	d.tag = sync.OnceValues(func() (string, error) {
		if tag != "" {
			return tag, nil
		}
		data, err := d.json()
		return fmt.Sprintf("%X", sha512.Sum512(data)), err
	})
	return d
}

// openAPI returns the documents about what is served now.
func (s *Server) openAPI() *openAPI {
	c := s.kinds.catalog()
	if o := s.documents.Load(); o != nil && o.catalog == c {
		return o
	}
	o := &openAPI{catalog: c, v3: map[string]*openAPIDocument{}}
	for path, tag := range recorded.Documents() {
		if c.documented(path) {
			o.v3[path] = newDocument(tag, func() ([]byte, error) { return recorded.Document(path), nil }, protobufV3)
		}
	}
	custom := s.customVersions(c)
	for path, kinds := range custom {
		o.v3[path] = newDocument("", func() ([]byte, error) { return customDocument(kinds) }, protobufV3)
	}
	o.v2 = newDocument("", func() ([]byte, error) { return swagger(custom) }, protobufV2)
	s.documents.Store(o)
	return o
}

// documented reports whether the document at a path is about something that is served: a
// group or a version of it, or none of them (version, api).
func (c *catalog) documented(path string) bool {
	parts := strings.Split(path, "/")
	if parts[0] != "apis" || len(parts) < 2 {
		return true
	}
	for _, k := range c.kinds {
		if !k.custom && k.Group == parts[1] && (len(parts) == 2 || k.Version == parts[2]) {
			return true
		}
	}
	return false
}

func protobufV3(data []byte) ([]byte, error) {
	d, err := openapi_v3.ParseDocument(data)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

func protobufV2(data []byte) ([]byte, error) {
	d, err := openapi_v2.ParseDocument(data)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// openAPIEndpoint returns what answers requests below /openapi.
func openAPIEndpoint(path string) handler {
	version, rest, below := strings.Cut(path, "/")
	switch {
	case version == "v2" && !below:
		return serveOpenAPIV2
	case version == "v3" && rest == "":
		return serveOpenAPIIndex
	case version == "v3":
		return func(w http.ResponseWriter, rq *request) error { return serveOpenAPIV3(w, rq, rest) }
	}
	return nil
}

// serveOpenAPIIndex answers GET /openapi/v3 with the links to all documents.
func serveOpenAPIIndex(w http.ResponseWriter, rq *request) error {
	type link struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	index := struct {
		Paths map[string]link `json:"paths"`
	}{map[string]link{}}
	for path, d := range rq.server.openAPI().v3 {
		tag, err := d.tag()
		if err != nil {
			return fmt.Errorf("OpenAPI document %s: %w", path, err)
		}
		index.Paths[path] = link{documentURL(path, tag)}
	}
	data, err := json.Marshal(index, json.Deterministic(true))
	if err != nil {
		return err
	}
	return serveContent(w, rq.http, "text/plain; charset=utf-8", "", data)
}

func documentURL(path, tag string) string {
	return (&url.URL{Path: "/openapi/v3/" + path, RawQuery: url.Values{"hash": {tag}}.Encode()}).String()
}
