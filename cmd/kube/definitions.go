package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/suggest"
	"github.com/go-kube/kube/k8s/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

type definition = apiextensionsv1.CustomResourceDefinition

// loaded is a definition and where it was read.
type loaded struct {
	*definition
	file string
}

// loadDefinitions reads the definitions in a file, in the files of a folder and those below it, at an
// address, or in standard input (-). Other objects are passed over.
func loadDefinitions(ctx context.Context, source string) ([]loaded, error) {
	switch {
	case source == "-":
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return oneAtLeast("standard input", text)
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		text, err := download(ctx, source)
		if err != nil {
			return nil, err
		}
		return oneAtLeast(source, text)
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return loadDefinitionFolder(source)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	return oneAtLeast(source, text)
}

func oneAtLeast(source string, text []byte) ([]loaded, error) {
	defs, err := parseDefinitions(source, text)
	if err != nil {
		return nil, err
	}
	if len(defs) == 0 {
		return nil, fmt.Errorf("%s: there is no CustomResourceDefinition in it", source)
	}
	return defs, nil
}

func loadDefinitionFolder(folder string) (defs []loaded, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("CustomResourceDefinition")) {
			return nil // other YAML, such as templates, need not even be well-formed
		}
		found, err := parseDefinitions(path, text)
		defs = append(defs, found...)
		return err
	})
	if err == nil && len(defs) == 0 {
		err = fmt.Errorf("%s: there is no CustomResourceDefinition in its .yaml, .yml and .json files", folder)
	}
	return defs, err
}

// maxDownload is more than the definitions of any project take.
const maxDownload = 128 << 20

func download(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %s", address, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDownload+1))
	if err == nil && len(text) > maxDownload {
		err = fmt.Errorf("there are more than %d bytes", maxDownload)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return text, nil
}

// parseDefinitions reads the definitions among the YAML or JSON documents of a file. Those that are no
// objects, as the configuration of other tools is not, are passed over.
func parseDefinitions(file string, text []byte) (defs []loaded, err error) {
	err = eachDocument(text, func(document []byte) error {
		var head struct{ Kind string }
		if err := json.Unmarshal(document, &head); err != nil || head.Kind == "" {
			return nil
		}
		objects, err := parseDocument(document)
		if err != nil {
			return err
		}
		for _, obj := range objects {
			if obj.GetKind() != "CustomResourceDefinition" {
				continue
			}
			def, err := asDefinition(obj)
			if err != nil {
				return fmt.Errorf("the definition %q: %w", obj.GetName(), err)
			}
			defs = append(defs, loaded{def, file})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return defs, nil
}

func asDefinition(obj *unstructured.Unstructured) (*definition, error) {
	if version := obj.GetAPIVersion(); version != "apiextensions.k8s.io/v1" {
		return nil, fmt.Errorf("its version is %q: only apiextensions.k8s.io/v1 is read, which replaced v1beta1 in Kubernetes 1.16", version)
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	def := &definition{}
	return def, yaml.UnmarshalStrict(raw, def)
}

// readCluster reads all definitions of a cluster.
func readCluster(ctx context.Context, kubeconfig, contextName string) ([]*definition, error) {
	cfg, err := kube.ConfigFromKubeconfig(kubeconfig, &kube.KubeconfigOptions{Context: contextName})
	if err != nil {
		return nil, err
	}
	client, err := kube.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	list, err := client.All(apiextensions.CustomResourceDefinitions).List(ctx, nil)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// selectDefinitions returns the definitions that names stand for: by their own name, the plural, the
// singular, the kind or a short name. No names stand for all.
func selectDefinitions(defs []*definition, names []string) (list []*definition, err error) {
	if len(names) == 0 {
		return defs, nil
	}
	for _, name := range names {
		var found []*definition
		for _, def := range defs {
			if slices.Contains(namesOf(def), name) {
				found = append(found, def)
			}
		}
		switch {
		case len(found) == 0:
			return nil, fmt.Errorf("there is no definition %q among %s%s", name, someNames(defs), suggest.DidYouMean(name, allNames(defs)))
		case len(found) > 1:
			return nil, fmt.Errorf("%q may be any of %s", name, someNames(found))
		case !slices.Contains(list, found[0]):
			list = append(list, found[0])
		}
	}
	return list, nil
}

// namesOf returns what a definition may be called, as kubectl has it.
func namesOf(def *definition) []string {
	n := def.Spec.Names
	return append([]string{def.Name, n.Plural, n.Singular, n.Kind}, n.ShortNames...)
}

func allNames(defs []*definition) (names []string) {
	for _, def := range defs {
		names = append(names, namesOf(def)...)
	}
	return names
}

// someNames lists names for an error.
func someNames(defs []*definition) string {
	if len(defs) == 0 {
		return "none at all"
	}
	var names []string
	for _, def := range defs {
		names = append(names, def.Name)
	}
	slices.Sort(names)
	if len(names) > 10 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), len(names)-10)
	}
	return strings.Join(names, ", ")
}
