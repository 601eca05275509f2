package recorded

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// archive has OpenAPI documents, of which most schemas stand in several: those are in an entry
// of their own. Its entries are
//
//	hashes              the documents of version 3, by path, with the hashes of a real server
//	v3/PATH             a document without its schemas
//	schemas             the schemas, by name, each in all its forms
//	v2                  the document of version 2
//	custom/v3/SCOPE     the document of a custom resource of a scope, with names that stand out
//	custom/v2/SCOPE     what the document of version 2 has about it
//
//go:embed openapi.zip
var archive []byte

var entries = sync.OnceValue(func() *zip.Reader {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("recorded: openapi: " + err.Error()) // it is part of the program
	}
	return r
})

// entry returns an entry of the archive, which has to be there.
func entry(name string) []byte {
	f, err := entries().Open(name)
	if err == nil {
		defer f.Close()
		var data []byte
		if data, err = io.ReadAll(f); err == nil {
			return data
		}
	}
	panic("recorded: openapi: " + err.Error()) // the archive is part of the program
}

func decode(name string, into any) {
	if err := json.Unmarshal(entry(name), into); err != nil {
		panic(fmt.Sprintf("recorded: openapi: %s: %v", name, err)) // the archive is part of the program
	}
}

var hashes = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	decode("hashes", &all)
	return all
})

var schemas = sync.OnceValue(func() map[string][]jsontext.Value {
	all := map[string][]jsontext.Value{}
	decode("schemas", &all)
	return all
})

// Documents returns the OpenAPI documents of version 3, by path (apis/apps/v1), with a hash of each.
// Callers must not change the map.
func Documents() map[string]string { return hashes() }

// Document returns the OpenAPI document of version 3 at a path that [Documents] has.
func Document(path string) []byte {
	var d struct {
		Before  string   `json:"before"`
		Schemas []string `json:"schemas"`
		After   string   `json:"after"`
	}
	decode("v3/"+path, &d)
	var b bytes.Buffer
	b.WriteString(d.Before)
	for i, ref := range d.Schemas {
		name, form, _ := strings.Cut(ref, "#")
		n, err := strconv.Atoi(form)
		if err != nil {
			panic("recorded: openapi: " + err.Error()) // the archive is part of the program
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, schemas()[name][n])
	}
	b.WriteString(d.After)
	return b.Bytes()
}

// Swagger returns the OpenAPI document of version 2.
func Swagger() []byte { return entry("v2") }

// Custom returns the OpenAPI document of version 3 of a custom resource of a scope, Namespaced or
// Cluster. See [Sample] for its names.
func Custom(scope string) []byte { return entry("custom/v3/" + scope) }

// CustomSwagger returns what the document of version 2 has about that custom resource.
func CustomSwagger(scope string) []byte { return entry("custom/v2/" + scope) }

// Sample are the names of the custom resource that [Custom] and [CustomSwagger] are about.
type Sample struct{ Group, Version, Kind, Plural, Singular, List string }

// SampleOf returns the names of the custom resource of a scope.
func SampleOf(scope string) Sample {
	return Sample{
		Group: "q" + strings.ToLower(scope) + ".qdomain", Version: "v77", Kind: "Qkind", Plural: "qplurals", Singular: "qsingular", List: "QkindList",
	}
}
