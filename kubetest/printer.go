package kubetest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/go-kube/kube/kubetest/internal/recorded"
)

// printer makes rows of objects.
type printer struct {
	columns []metav1.TableColumnDefinition
	cells   func(obj runtime.Object) []any
}

// printer returns the columns of a kind. Those of built-in kinds are a real server's.
func (c *catalog) printer(k *kind) *printer {
	if k.custom {
		return c.customPrinter(k)
	}
	columns, known := recorded.Columns(k.GroupVersionResource())
	cells := builtinCells()[k.GroupResource()]
	if !known || cells == nil {
		return namePrinter()
	}
	return &printer{columns: columns, cells: cells}
}

// namePrinter shows name and age, as a real server does for kinds that it has no columns for.
func namePrinter() *printer {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	return &printer{
		columns: []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: doc["name"]},
			{Name: "Created At", Type: "date", Description: doc["creationTimestamp"]},
		},
		cells: func(obj runtime.Object) []any {
			m := accessor(obj)
			return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
		},
	}
}

// cells adapts a function for a Go type to any object.
func cells[T runtime.Object](f func(T) []any) func(runtime.Object) []any {
	return func(obj runtime.Object) []any {
		if t, ok := obj.(T); ok {
			return f(t)
		}
		return []any{accessor(obj).GetName()} // of another version: what every table begins with
	}
}

// builtinCells are the rows of built-in kinds, by group and resource; they are in a file per
// group.
func builtinCells() map[schema.GroupResource]func(runtime.Object) []any {
	all := map[schema.GroupResource]func(runtime.Object) []any{}
	for group, resources := range map[string]map[string]func(runtime.Object) []any{
		"": coreCells(), "apps": appsCells(), "batch": batchCells(), "autoscaling": autoscalingCells(), "events.k8s.io": eventsCells(),
		"networking.k8s.io": networkingCells(), "discovery.k8s.io": discoveryCells(), "policy": policyCells(),
		"rbac.authorization.k8s.io": rbacCells(), "storage.k8s.io": storageCells(), "coordination.k8s.io": leaseCells(),
		"scheduling.k8s.io": schedulingCells(), "node.k8s.io": nodeCells(), "certificates.k8s.io": certificateCells(),
		"admissionregistration.k8s.io": admissionCells(), "apiextensions.k8s.io": definitionCells(), "resource.k8s.io": deviceCells(),
		"flowcontrol.apiserver.k8s.io": flowCells(), "storagemigration.k8s.io": migrationCells(),
	} {
		for resource, f := range resources {
			all[schema.GroupResource{Group: group, Resource: resource}] = f
		}
	}
	return all
}

// age is how long ago something was, as people read it.
func age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}

// or returns the value that p points to, or else instead.
func or[T any](p *T, instead T) T {
	if p == nil {
		return instead
	}
	return *p
}

// orText returns text, or instead where it is empty.
func orText(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}
