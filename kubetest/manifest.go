package kubetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// readFiles returns the objects in the files of a file system, which may be nil.
func readFiles(files fs.FS) ([]source, error) {
	if files == nil {
		return nil, nil
	}
	var all []source
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		objects, err := parseDocuments(name, data)
		all = append(all, objects...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("Options.Files: %w", err)
	}
	return all, nil
}

// parseDocuments returns the objects in documents of YAML or JSON, those of lists one by one.
// Empty documents are skipped. name is where the documents are from.
func parseDocuments(name string, data []byte) ([]source, error) {
	var all []source
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		place := fmt.Sprintf("%s, document %d", name, i)
		objects, err := parseDocument(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		for _, obj := range objects {
			all = append(all, source{obj, describe(place, obj)})
		}
	}
}

func parseDocument(document []byte) ([]runtime.Object, error) {
	data, err := sigsyaml.YAMLToJSON(document)
	if err != nil || string(data) == "null" {
		return nil, err
	}
	obj, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	l, ok := obj.(*unstructured.UnstructuredList)
	if !ok {
		return []runtime.Object{obj}, nil
	}
	items := make([]runtime.Object, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items, nil
}

func describe(place string, obj runtime.Object) string {
	m, ok := obj.(metav1.Object)
	if !ok {
		return place
	}
	return fmt.Sprintf("%s (%s %s)", place, obj.GetObjectKind().GroupVersionKind().Kind, m.GetName())
}

// Save writes every object to w, as YAML that [Options.YAML] takes: custom resource
// definitions first, then namespaces, then the rest, without resource versions. What a new
// server has by itself is left out, unless it has been changed.
func (s *Server) Save(w io.Writer) error {
	var all []source
	for _, k := range s.kinds.catalog().tables() {
		snap, _ := k.table.snapshot(0, "", key{}, 0, nil)
		for _, o := range snap.objects {
			if s.system[o] {
				continue
			}
			obj := k.copy(o)
			setTypeMeta(obj, k.GroupVersionKind())
			accessor(obj).SetResourceVersion("")
			all = append(all, source{object: obj})
		}
	}
	slices.SortStableFunc(all, func(a, b source) int { return a.turn() - b.turn() })
	for _, src := range all {
		data, err := sigsyaml.Marshal(src.object)
		if err != nil {
			return fmt.Errorf("kubetest: save %s: %w", accessor(src.object).GetName(), err)
		}
		if _, err := fmt.Fprintf(w, "---\n%s", data); err != nil {
			return fmt.Errorf("kubetest: save: %w", err)
		}
	}
	return nil
}
