package crd

import (
	"bytes"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// YAML writes definitions as one stream of YAML documents for kubectl apply or a GitOps
// repository. The same definitions give the same bytes. What only a server sets, which is
// the status, is left out, so that nothing differs once it is applied.
func YAML(defs ...*apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	var out bytes.Buffer
	for i, def := range defs {
		if def == nil {
			return nil, fmt.Errorf("crd: definition %d is nil", i)
		}
		raw, err := json.Marshal(manifestOf(def))
		if err != nil {
			return nil, fmt.Errorf("crd: %s: %w", def.Name, err)
		}
		document, err := yaml.JSONToYAML(raw)
		if err != nil {
			return nil, fmt.Errorf("crd: %s: %w", def.Name, err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(document)
	}
	return out.Bytes(), nil
}

// manifest is a definition without its status, which the Go type writes even when empty.
type manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              apiextensionsv1.CustomResourceDefinitionSpec `json:"spec"`
}

func manifestOf(def *apiextensionsv1.CustomResourceDefinition) manifest {
	return manifest{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: def.Name, Labels: def.Labels, Annotations: def.Annotations},
		Spec:       def.Spec,
	}
}
