package crd

import (
	"bytes"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// MergePatch is a change for [Options.Refine], written as a JSON merge patch (RFC 7386) of the
// version, which is an element of spec.versions in the definition:
//
//	{"schema": {"openAPIV3Schema": {"properties": {"spec": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}}}}
//
// Members of the patch replace those of the version, null removes one, and a list is replaced as a
// whole. A patch that is no JSON, or that leaves something else than a version, is an error of [For].
func MergePatch(patch []byte) func(*apiextensionsv1.CustomResourceDefinitionVersion) error {
	return func(v *apiextensionsv1.CustomResourceDefinitionVersion) error {
		change, err := readTree(patch)
		if err != nil {
			return fmt.Errorf("the merge patch: %w", err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		tree, err := readTree(raw)
		if err != nil {
			return err
		}
		if raw, err = json.Marshal(mergeTree(tree, change)); err != nil {
			return err
		}
		patched := apiextensionsv1.CustomResourceDefinitionVersion{}
		if err := json.Unmarshal(raw, &patched); err != nil {
			return fmt.Errorf("the merge patch leaves no version of a definition: %w", err)
		}
		*v = patched
		return nil
	}
}

// readTree reads a JSON object, and keeps its numbers as they are written.
func readTree(raw []byte) (tree map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return tree, nil
}

// mergeTree changes the object tree by the rules of RFC 7386, and returns it.
func mergeTree(tree, change map[string]any) map[string]any {
	if tree == nil {
		tree = map[string]any{}
	}
	for name, v := range change {
		if v == nil {
			delete(tree, name)
			continue
		}
		inner, isObject := v.(map[string]any)
		if !isObject {
			tree[name] = v
			continue
		}
		below, _ := tree[name].(map[string]any) // what is no object is replaced by one
		tree[name] = mergeTree(below, inner)
	}
	return tree
}
