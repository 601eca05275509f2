package kubetest

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// notAConversion says that an answer cannot be shown as what the client asked for.
func notAConversion(format string, args ...any) error {
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: "NotAcceptable",
		Message: fmt.Sprintf(format, args...),
	}}
}

// respondTable answers with items as rows of a table.
func (rq *request) respondTable(w http.ResponseWriter, code int, items []*object, meta metav1.ListMeta) error {
	t, err := rq.table(items)
	if err != nil {
		return err
	}
	t.ListMeta = meta
	data, err := encodeBody(t, rq.tableKind(), rq.media)
	if err != nil {
		return err
	}
	rq.write(w, code, data)
	return nil
}

// tableDocument returns the table of the object of a watch event. Only the first event tells
// the columns.
func (rq *request) tableDocument(o *object, first bool) ([]byte, error) {
	t, err := rq.table([]*object{o})
	if err != nil {
		return nil, err
	}
	t.ListMeta.ResourceVersion = o.meta.GetResourceVersion()
	if !first {
		t.ColumnDefinitions = nil
	}
	return encodeBody(t, rq.tableKind(), rq.media)
}

func (rq *request) tableKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: metav1.GroupName, Version: rq.media.asVersion, Kind: asTable}
}

// table returns a table of objects.
func (rq *request) table(items []*object) (*metav1.Table, error) {
	include, err := rq.includedObject()
	if err != nil {
		return nil, err
	}
	p := rq.server.kinds.catalog().printer(rq.kind)
	t := &metav1.Table{ColumnDefinitions: p.columns, Rows: make([]metav1.TableRow, len(items))}
	for i, o := range items {
		content := rq.kind.convert(o)
		t.Rows[i] = metav1.TableRow{Cells: p.cells(content), Conditions: rowConditions(content)}
		if t.Rows[i].Object.Raw, err = rq.rowObject(o, include); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// includedObject returns what rows shall have besides their cells.
func (rq *request) includedObject() (metav1.IncludeObjectPolicy, error) {
	switch include := metav1.IncludeObjectPolicy(rq.query.Get("includeObject")); include {
	case metav1.IncludeNone, metav1.IncludeObject, metav1.IncludeMetadata:
		return include, nil
	case "":
		return metav1.IncludeMetadata, nil
	default:
		return "", apierrors.NewBadRequest(fmt.Sprintf(
			"Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", include))
	}
}

func (rq *request) rowObject(o *object, include metav1.IncludeObjectPolicy) ([]byte, error) {
	switch include {
	case metav1.IncludeNone:
		return nil, nil
	case metav1.IncludeObject:
		data, err := rq.kind.element(o, wholeJSON)
		if err != nil || rq.kind.custom {
			return data, err
		}
		return withTypeMeta(rq.kind.GroupVersionKind(), data), nil
	}
	data, err := rq.kind.element(o, metadataJSON)
	if err != nil {
		return nil, err
	}
	return withTypeMeta(schema.GroupVersionKind{Group: metav1.GroupName, Version: rq.media.asVersion, Kind: asMetadata}, data), nil
}
