// Package recorded has what a real API server says about the kinds that are part of Kubernetes:
// documents that are the same on every server of a release. They are embedded in a compressed
// form, and unpacked when they are first asked for.
//
// The files are written by the command test/cmd/record, from a server that it runs.
package recorded

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json/v2"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed columns.json.gz
var columns []byte

// tables are the columns of all tables, by group/version and resource with a space between.
var tables = sync.OnceValue(func() map[string][]metav1.TableColumnDefinition {
	all := map[string][]metav1.TableColumnDefinition{}
	if err := json.Unmarshal(unpack(columns), &all); err != nil {
		panic("recorded: columns: " + err.Error()) // they are part of the program
	}
	return all
})

// Columns returns the columns that tables of a resource have. Callers must not change them.
// It reports false for resources that are not part of Kubernetes.
func Columns(r schema.GroupVersionResource) ([]metav1.TableColumnDefinition, bool) {
	found, ok := tables()[r.GroupVersion().String()+" "+r.Resource]
	return found, ok
}

// unpack returns the content of a file of this package.
func unpack(file []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		panic("recorded: " + err.Error()) // it is part of the program
	}
	data, err := io.ReadAll(r)
	if err != nil {
		panic("recorded: " + err.Error())
	}
	return data
}
