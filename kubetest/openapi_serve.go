package kubetest

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/munnerz/goautoneg"
)

// openAPIForm is a media type that a document can be asked for in.
type openAPIForm struct {
	subtype, answer string
	protobuf        bool
}

func openAPIForms(version string) []openAPIForm {
	protobuf := "com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
	return []openAPIForm{
		{"json", "application/json", false},
		{protobuf, "application/" + protobuf, true},
		{"com.github.proto-openapi.spec." + version + "@v1.0+protobuf", "application/" + protobuf, true},
	}
}

// negotiateOpenAPI returns the form of a document that the client wants; false if there is none.
func negotiateOpenAPI(r *http.Request, version string) (openAPIForm, bool) {
	forms := openAPIForms(version)
	accept := r.Header.Get("Accept")
	if accept == "" {
		return forms[0], true
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		for _, f := range forms {
			if (clause.Type == "application" || clause.Type == "*") && (clause.SubType == f.subtype || clause.SubType == "*") {
				return f, true
			}
		}
	}
	return openAPIForm{}, false
}

// serveOpenAPIV3 answers GET /openapi/v3/PATH. A hash in the query that is not the document's
// leads to where it is.
func serveOpenAPIV3(w http.ResponseWriter, rq *request, path string) error {
	d := rq.server.openAPI().v3[path]
	if d == nil {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	w.Header().Set("Vary", "Accept")
	form, ok := negotiateOpenAPI(rq.http, "v3")
	if !ok {
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	tag, err := d.tag()
	if err != nil {
		return err
	}
	if hash := rq.query.Get("hash"); hash != "" {
		if hash != tag {
			w.Header().Set("ETag", strconv.Quote(tag))
			http.Redirect(w, rq.http, documentURL(path, tag), http.StatusMovedPermanently)
			return nil
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	return d.serve(w, rq.http, form, tag)
}

// serveOpenAPIV2 answers GET /openapi/v2.
func serveOpenAPIV2(w http.ResponseWriter, rq *request) error {
	w.Header().Add("Vary", "Accept-Encoding")
	w.Header().Add("Vary", "Accept")
	form, ok := negotiateOpenAPI(rq.http, "v2")
	if !ok {
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	d := rq.server.openAPI().v2
	tag, err := d.tag()
	if err != nil {
		return err
	}
	return d.serve(w, rq.http, form, tag)
}

func (d *openAPIDocument) serve(w http.ResponseWriter, r *http.Request, form openAPIForm, tag string) error {
	encode := d.json
	if form.protobuf {
		encode = d.protobuf
	}
	data, err := encode()
	if err != nil {
		return err
	}
	return serveContent(w, r, form.answer, tag, data)
}

func serveContent(w http.ResponseWriter, r *http.Request, contentType, tag string, data []byte) error {
	w.Header().Set("Content-Type", contentType)
	if tag != "" {
		w.Header().Set("ETag", strconv.Quote(tag))
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return nil
}
