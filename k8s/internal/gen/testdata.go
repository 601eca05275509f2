package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// copyTestdata gives the tests of the written packages what they compare with: discovery
// documents, not those that the packages are written from but the aggregated form where there
// is one, and the schemas of the types that kube wrote itself.
func copyTestdata(src source) ([]file, error) {
	var files []file
	for _, name := range []string{"api__v1.json", "aggregated_v2.json"} {
		data, err := os.ReadFile(filepath.Join(src.discovery(), name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"k8s/all/testdata/" + name, data})
	}
	schemas, err := schemasOf(src, "apis__apiregistration.k8s.io__v1_openapi.json", "io.k8s.kube-aggregator.")
	if err != nil {
		return nil, err
	}
	return append(files, file{"k8s/apiregistration/testdata/schemas.json", schemas}), nil
}

// schemasOf returns the schemas of an OpenAPI document whose names start with prefix, by the
// rest of their names' last element.
func schemasOf(src source, document, prefix string) ([]byte, error) {
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := readJSON(filepath.Join(src.openAPI(), document), &doc); err != nil {
		return nil, err
	}
	schemas := map[string]json.RawMessage{}
	for name, schema := range doc.Components.Schemas {
		if strings.HasPrefix(name, prefix) {
			schemas[name[strings.LastIndexByte(name, '.')+1:]] = schema
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // sorts the names
	encoder.SetIndent("", "  ")
	err := encoder.Encode(schemas)
	return out.Bytes(), err
}
