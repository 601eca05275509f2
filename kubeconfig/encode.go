package kubeconfig

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
)

// Encode returns the kubeconfig as YAML, secrets and unknown fields included. Keys are sorted
// and comments are not kept. Of a Config that was merged from several files it makes one: paths
// that are relative to different folders have to be made absolute first.
func (c *Config) Encode() ([]byte, error) {
	out := *c
	if out.APIVersion == "" {
		out.APIVersion = "v1"
	}
	if out.Kind == "" {
		out.Kind = "Config"
	}
	text, err := json.Marshal(&out, json.WithMarshalers(encodeSecrets), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	sorted := jsontext.Value(text)
	if err := sorted.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	doc, err := appendYAML(nil, sorted, 0)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return doc, nil
}
