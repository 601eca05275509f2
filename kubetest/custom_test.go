package kubetest_test

import (
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/kubetest"
)

// widgets are a definition with columns and descriptions.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size, description: How large it is.}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A widget is a part.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, description: How large it is.}
              color: {type: string}
`

func getCustom(t *testing.T, path, accept string, into any) {
	t.Helper()
	srv := kubetest.Start(t, &kubetest.Options{YAML: widgets})
	const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis/example.com/v1/namespaces/default/widgets", strings.NewReader(widget))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if srv.ServeHTTP(w, r); w.Code != http.StatusCreated {
		t.Fatalf("create: %d %s", w.Code, w.Body)
	}
	r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	w = httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

func TestCustomTable(t *testing.T) {
	var table struct {
		ColumnDefinitions []metav1.TableColumnDefinition `json:"columnDefinitions"`
		Rows              []struct {
			Cells []any `json:"cells"`
		} `json:"rows"`
	}
	getCustom(t, "/apis/example.com/v1/namespaces/default/widgets", "application/json;as=Table;v=v1;g=meta.k8s.io", &table)
	type column struct {
		Name, Type, Description string
		Priority                int32
	}
	var columns []column
	for _, c := range table.ColumnDefinitions[1:] {
		columns = append(columns, column{c.Name, c.Type, c.Description, c.Priority})
	}
	want := []column{
		{"Size", "integer", "How large it is.", 0},
		{"Color", "string", "Custom resource definition column (in JSONPath format): .spec.color", 1},
	}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if len(table.Rows) != 1 || !cmp.Equal(table.Rows[0].Cells, []any{"a", 3.0, nil}) {
		t.Errorf("rows: %v", table.Rows)
	}
}

func TestCustomOpenAPI(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Description string         `json:"description"`
				Kinds       []any          `json:"x-kubernetes-group-version-kind"`
				Properties  map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
		Paths map[string]any `json:"paths"`
	}
	getCustom(t, "/openapi/v3/apis/example.com/v1", "application/json", &document)
	s, ok := document.Components.Schemas["com.example.v1.Widget"]
	if !ok || s.Description != "A widget is a part." {
		t.Errorf("the schema of Widget is %+v", s)
	}
	if diff := cmp.Diff([]any{map[string]any{"group": "example.com", "version": "v1", "kind": "Widget"}}, s.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"type": "object", "required": []any{"size"},
		"properties": map[string]any{
			"size":  map[string]any{"type": "integer", "description": "How large it is."},
			"color": map[string]any{"type": "string"},
		},
	}
	if diff := cmp.Diff(want, s.Properties["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		if s.Properties[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if document.Paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"] == nil {
		t.Errorf("the path of an object is missing")
	}
}
