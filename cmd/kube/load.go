package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
)

// loader creates objects that are written in YAML.
type loader struct {
	client  *kube.Client
	created int
}

// loadFolder creates the objects in the YAML files of a folder.
func (l *loader) loadFolder(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		found = true
		if err := l.loadFile(ctx, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s: there is no .yaml, .yml or .json file in it", dir)
	}
	return nil
}

// loadFile creates the objects in a file, in such an order that what others need comes first.
func (l *loader) loadFile(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	objects, err := parseObjects(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return loadOrder(a) - loadOrder(b) })
	served, err := discover(ctx, l.client)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if served.kinds[obj.GroupVersionKind()] == nil {
			if served, err = discover(ctx, l.client); err != nil { // a CRD may have been among them
				return err
			}
		}
		if err := l.create(ctx, served, obj); err != nil {
			return fmt.Errorf("%s: %s %s: %w", path, obj.GetKind(), obj.GetName(), err)
		}
		l.created++
	}
	return nil
}

// loadOrder is low for what has to be there before the rest.
func loadOrder(obj *unstructured.Unstructured) int {
	switch obj.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Kind: "Namespace"}:
		return 0
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return 1
	}
	return 2
}

// parseObjects reads the objects of YAML documents; those of lists are taken out.
func parseObjects(data []byte) (objects []*unstructured.Unstructured, err error) {
	err = eachDocument(data, func(document []byte) error {
		found, err := parseDocument(document)
		objects = append(objects, found...)
		return err
	})
	return objects, err
}

// eachDocument calls visit for every YAML document that is not empty, as JSON. Errors say which one it was.
func eachDocument(data []byte, visit func(document []byte) error) error {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSONStrict(document) // of a key that is there twice, one would be lost
		}
		if err == nil && string(bytes.TrimSpace(document)) != "null" {
			err = visit(document)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}

func parseDocument(document []byte) ([]*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(document); err != nil {
		return nil, err
	}
	if !obj.IsList() {
		return []*unstructured.Unstructured{obj}, nil
	}
	list, err := obj.ToList()
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		objects[i] = &list.Items[i]
	}
	return objects, nil
}

// create creates obj, or replaces what is there by that name, such as namespace default. Its
// status is written after it.
func (l *loader) create(ctx context.Context, served *servedKinds, obj *unstructured.Unstructured) error {
	kind := served.kinds[obj.GroupVersionKind()]
	if kind == nil {
		return fmt.Errorf("the server has no kind %s in %s: is its CustomResourceDefinition missing?", obj.GetKind(), obj.GetAPIVersion())
	}
	stripServerFields(obj)
	api := l.client.All(kind.dynamic())
	if kind.namespaced() {
		api = api.In(namespaceOf(obj))
	}
	status := maps.Clone(obj.Object)["status"]
	stored, err := api.Create(ctx, obj, nil)
	if errors.Is(err, kube.ErrAlreadyExists) || errors.Is(err, kube.ErrInvalid) {
		// Invalid is also what a server says of an address or a port that the old one has.
		if old, found, lookupErr := api.Lookup(ctx, obj.GetName()); found && lookupErr == nil {
			obj.SetResourceVersion(old.GetResourceVersion())
			stored, err = api.Replace(ctx, obj, nil)
		}
	}
	if err != nil || status == nil || !slices.Contains(kind.Subresources, "status") {
		return err
	}
	stored.Object["status"] = status
	_, err = api.Status().Replace(ctx, stored, nil)
	return err
}

func namespaceOf(obj *unstructured.Unstructured) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns
	}
	return "default"
}

// stripServerFields removes what only the server writes.
func stripServerFields(obj *unstructured.Unstructured) {
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", name)
	}
}
