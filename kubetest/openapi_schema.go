package kubetest

import (
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"

	"github.com/go-kube/kube/kubetest/internal/recorded"
)

// Descriptions that the schemas of all objects have.
const (
	docAPIVersion = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	docKind       = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	docMetadata   = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
	metadataModel = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

// schema returns the schema in the definition as a map, nil if there is none.
func (k *customKind) schema() (map[string]any, error) {
	if k.version.Schema == nil || k.version.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	// The tags of the type are for the first version of encoding/json, which omits false.
	data, err := jsonv1.Marshal(k.version.Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	schema := map[string]any{}
	return schema, json.Unmarshal(data, &schema)
}

// schemaV3 returns the schema of the objects in a document of version 3.
func (k *customKind) schemaV3() (map[string]any, error) {
	schema, err := k.schema()
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{"description": docMetadata, "allOf": []any{map[string]any{"$ref": "#/components/schemas/" + metadataModel}}}
	if schema != nil {
		addObjectFields(schema, metadata)
		addEmbeddedFields(schema, metadata)
	}
	return k.identified(schema), nil
}

// schemaV2 returns the schema of the objects in the document of version 2, which lacks what
// that version has no words for.
func (k *customKind) schemaV2() (map[string]any, error) {
	schema, err := k.schema()
	if err != nil {
		return nil, err
	}
	if schema == nil || schema["x-kubernetes-preserve-unknown-fields"] == true || k.definition.Spec.PreserveUnknownFields {
		return k.identified(nil), nil
	}
	toV2(schema)
	metadata := map[string]any{"description": docMetadata, "$ref": "#/definitions/" + metadataModel}
	addObjectFields(schema, metadata)
	addEmbeddedFields(schema, metadata)
	return k.identified(schema), nil
}

// identified adds the kind that a schema is of.
func (k *customKind) identified(schema map[string]any) map[string]any {
	if schema == nil {
		schema = map[string]any{"type": "object"}
	}
	schema["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}}
	return schema
}

func addObjectFields(schema, metadata map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		schema["properties"] = properties
	}
	properties["apiVersion"] = map[string]any{"description": docAPIVersion, "type": "string"}
	properties["kind"] = map[string]any{"description": docKind, "type": "string"}
	properties["metadata"] = metadata
}

// children calls f for the schemas within a schema.
func children(schema map[string]any, f func(map[string]any)) {
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, p := range properties {
			if s, ok := p.(map[string]any); ok {
				f(s)
			}
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if s, ok := schema[name].(map[string]any); ok {
			f(s)
		}
	}
}

// addEmbeddedFields completes the schemas of embedded objects.
func addEmbeddedFields(schema, metadata map[string]any) {
	children(schema, func(s map[string]any) { addEmbeddedFields(s, metadata) })
	if schema["x-kubernetes-embedded-resource"] != true {
		return
	}
	addObjectFields(schema, metadata)
	required, _ := schema["required"].([]any)
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	schema["required"] = required
}

// toV2 drops from a schema what OpenAPI 2 does not have, and types that kubectl would take for
// more than they say.
func toV2(schema map[string]any) {
	for _, word := range []string{"allOf", "anyOf", "oneOf", "not"} {
		delete(schema, word)
	}
	dropNullableRequired(schema)
	unknown := schema["x-kubernetes-preserve-unknown-fields"] == true
	if schema["nullable"] == true || unknown {
		delete(schema, "items")
		delete(schema, "properties")
	}
	if schema["nullable"] == true || unknown && schema["type"] == "object" || schema["type"] == "array" && schema["items"] == nil {
		delete(schema, "type")
	}
	delete(schema, "nullable")
	children(schema, toV2)
}

func dropNullableRequired(schema map[string]any) {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	kept := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		text, _ := name.(string)
		p, _ := properties[text].(map[string]any)
		return p["nullable"] == true
	})
	if len(kept) == 0 {
		delete(schema, "required")
		return
	}
	schema["required"] = kept
}

// swagger returns the document of version 2 of everything that is served.
func swagger(custom map[string][]*customKind) ([]byte, error) {
	document := map[string]jsontext.Value{}
	if err := json.Unmarshal(recorded.Swagger(), &document); err != nil {
		return nil, err
	}
	if len(custom) == 0 {
		return recorded.Swagger(), nil
	}
	paths, definitions := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if err := json.Unmarshal(document["paths"], &paths); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(document["definitions"], &definitions); err != nil {
		return nil, err
	}
	for _, version := range sortedKeys(custom) {
		for _, k := range custom[version] {
			if err := k.addSwagger(paths, definitions); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if document["paths"], err = json.Marshal(paths, json.Deterministic(true)); err != nil {
		return nil, err
	}
	if document["definitions"], err = json.Marshal(definitions, json.Deterministic(true)); err != nil {
		return nil, err
	}
	return json.Marshal(document, json.Deterministic(true))
}

// addSwagger adds what the document of version 2 has about k.
func (k *customKind) addSwagger(paths, definitions map[string]jsontext.Value) error {
	var sample struct {
		Paths       map[string]jsontext.Value `json:"paths"`
		Definitions map[string]jsontext.Value `json:"definitions"`
	}
	if err := json.Unmarshal(recorded.CustomSwagger(k.Scope.String()), &sample); err != nil {
		return err
	}
	for path, item := range k.paths(sample.Paths) {
		paths[path] = item
	}
	for name := range sample.Definitions {
		if !strings.Contains(name, recorded.SampleOf(k.Scope.String()).Kind) {
			delete(sample.Definitions, name) // the document has it
		}
	}
	return k.addSchemas(definitions, sample.Definitions, k.schemaV2)
}
