package kubetest

import (
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// customPrinter returns the columns that the definition of a custom resource names; the age if
// it names none.
func (c *catalog) customPrinter(k *kind) *printer {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	columns := []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Age", Type: "date", Description: doc["creationTimestamp"], JSONPath: ".metadata.creationTimestamp"},
	}
	if custom := c.customKind(k); custom != nil && len(custom.version.AdditionalPrinterColumns) > 0 {
		columns = custom.version.AdditionalPrinterColumns
	}
	p := &printer{columns: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: doc["name"]}}}
	var values []func(*unstructured.Unstructured) any
	for _, column := range columns {
		value := customCell(&column)
		if value == nil {
			break // as a real server does: the columns before it are shown
		}
		values = append(values, value)
		p.columns = append(p.columns, metav1.TableColumnDefinition{
			Name: column.Name, Type: column.Type, Format: column.Format, Priority: column.Priority,
			Description: orText(column.Description, "Custom resource definition column (in JSONPath format): "+column.JSONPath),
		})
	}
	p.cells = cells(func(o *unstructured.Unstructured) []any {
		row := []any{o.GetName()}
		for _, value := range values {
			row = append(row, value(o))
		}
		return row
	})
	return p
}

// customCell returns what reads the cell of a column from an object; nil if its path is none.
func customCell(column *apiextensionsv1.CustomResourceColumnDefinition) func(*unstructured.Unstructured) any {
	name, kind := column.Name, column.Type
	text := "{" + column.JSONPath + "}"
	if jsonpath.New(name).Parse(text) != nil {
		return nil
	}
	return func(o *unstructured.Unstructured) any {
		path := jsonpath.New(name) // it is not safe for concurrent use
		if path.Parse(text) != nil {
			return nil
		}
		path.AllowMissingKeys(true)
		results, err := path.FindResults(o.Object)
		if err != nil || len(results) == 0 || len(results[0]) == 0 {
			return nil
		}
		return cellOf(path, kind, results[0][0].Interface())
	}
}

// cellOf returns a value as a cell of a column of a type, nil if it is of another type.
func cellOf(path *jsonpath.JSONPath, kind string, value any) any {
	switch kind {
	case "string":
		var b strings.Builder
		if path.PrintResults(&b, []reflect.Value{reflect.ValueOf(value)}) != nil {
			return nil
		}
		return b.String()
	case "integer":
		return integerCell(value)
	case "number":
		return numberCell(value)
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if s, ok := value.(string); ok {
			return dateCell(s)
		}
	}
	return nil
}

func integerCell(value any) any {
	switch v := value.(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return nil
}

func numberCell(value any) any {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return nil
}

func dateCell(text string) any {
	var t metav1.Time
	if t.UnmarshalQueryParameter(text) != nil {
		return "<invalid>"
	}
	return age(t)
}
