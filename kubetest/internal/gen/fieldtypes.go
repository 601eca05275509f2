package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/go-kube/kube/kubetest/internal/fieldtypes"
)

// readModels returns the schemas of all documents in a folder, by name.
func readModels(folder string) (map[string]*spec.Schema, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_openapi.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no OpenAPI documents in %s (%v)", folder, err)
	}
	models := map[string]*spec.Schema{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var document spec3.OpenAPI
		if err := json.Unmarshal(data, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if document.Components != nil {
			maps.Copy(models, document.Components.Schemas)
		}
	}
	return models, nil
}

// fieldTypes returns the compressed lines of package fieldtypes.
func fieldTypes(models map[string]*spec.Schema) ([]byte, error) {
	types, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(types.Types, func(a, b smd.TypeDef) int { return strings.Compare(a.Name, b.Name) })
	var archive bytes.Buffer
	z, err := gzip.NewWriterLevel(&archive, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, def := range types.Types {
		sortFields(def.Atom)
		packed, err := fieldtypes.Pack(def.Atom)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", def.Name, err)
		}
		fmt.Fprintf(z, "%s\t%s\t%s\n", def.Name, strings.Join(kindsOf(models[def.Name]), ","), packed)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

// sortFields gives the fields of a type, and of those in it, an order.
func sortFields(a smd.Atom) {
	if a.List != nil {
		sortFields(a.List.ElementType.Inlined)
	}
	if a.Map == nil {
		return
	}
	sortFields(a.Map.ElementType.Inlined)
	slices.SortFunc(a.Map.Fields, func(x, y smd.StructField) int { return strings.Compare(x.Name, y.Name) })
	for _, f := range a.Map.Fields {
		sortFields(f.Type.Inlined)
	}
}

// kindsOf returns the kinds that a schema is of. Those that many groups have, such as
// DeleteOptions, are no objects and left out.
func kindsOf(model *spec.Schema) []string {
	if model == nil {
		return nil
	}
	var kinds []string
	list, _ := model.Extensions["x-kubernetes-group-version-kind"].([]any)
	for _, item := range list {
		member, _ := item.(map[string]any)
		text := func(name string) string { s, _ := member[name].(string); return s }
		kinds = append(kinds, fieldtypes.KindKey(schema.GroupVersionKind{Group: text("group"), Version: text("version"), Kind: text("kind")}))
	}
	if len(kinds) > 1 {
		return nil
	}
	slices.Sort(kinds)
	return kinds
}
