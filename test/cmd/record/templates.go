package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/k8s/apiextensions"
)

// sample returns a definition whose names stand out, so that documents about it can be used
// for any other one.
func sample(scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	def := &apiextensionsv1.CustomResourceDefinition{}
	group := "q" + strings.ToLower(string(scope)) + ".qdomain"
	def.Name = "qplurals." + group
	def.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group, Scope: scope,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "qplurals", Singular: "qsingular", Kind: "Qkind", ListKind: "QkindList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v77", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Description: "Qdescription",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
					"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"replicas": {Type: "integer"}, "selector": {Type: "string"},
					}},
				},
			}},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale: &apiextensionsv1.CustomResourceSubresourceScale{
					SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: new(".status.selector"),
				},
			},
		}},
	}
	return def
}

// templates adds the documents about a definition of each scope.
func (r *recorder) templates(ctx context.Context, a *archive) error {
	for _, scope := range []apiextensionsv1.ResourceScope{apiextensionsv1.NamespaceScoped, apiextensionsv1.ClusterScoped} {
		def := sample(scope)
		if _, err := r.client.All(apiextensions.CustomResourceDefinitions).Create(ctx, def, nil); err != nil {
			return err
		}
		path := "apis/" + def.Spec.Group + "/v77"
		data, err := r.wait(ctx, "/openapi/v3/"+path, `"/`+path)
		if err != nil {
			return err
		}
		a.entries["custom/v3/"+string(scope)] = data
		whole, err := r.wait(ctx, "/openapi/v2", `"/`+path)
		if err != nil {
			return err
		}
		if a.entries["custom/v2/"+string(scope)], err = part(whole, def.Spec.Group); err != nil {
			return err
		}
	}
	return nil
}

// wait asks for a document until it has a text in it.
func (r *recorder) wait(ctx context.Context, path, text string) ([]byte, error) {
	const patience = time.Minute
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		data, err := r.get(ctx, path, "application/json")
		if err == nil && bytes.Contains(data, []byte(text)) {
			return data, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("GET %s: no %s after %v: %w", path, text, patience, err)
		}
	}
}

// part returns what a document of version 2 has about a group.
func part(document []byte, group string) ([]byte, error) {
	var d struct {
		Paths       map[string]jsontext.Value `json:"paths"`
		Definitions map[string]jsontext.Value `json:"definitions"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	words := strings.Split(group, ".")
	prefix := words[1] + "." + words[0] + "."
	for path := range d.Paths {
		if !strings.HasPrefix(path, "/apis/"+group+"/v77") {
			delete(d.Paths, path)
		}
	}
	for name := range d.Definitions {
		if !strings.HasPrefix(name, prefix) {
			delete(d.Definitions, name)
		}
	}
	return json.Marshal(d, json.Deterministic(true))
}
