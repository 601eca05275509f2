package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
)

// save returns all objects of a server as YAML documents that load reads. Events are left out:
// they tell what happened, and will happen anew.
func save(ctx context.Context, client *kube.Client) ([]byte, error) {
	served, err := discover(ctx, client)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, kind := range served.order {
		if !slices.Contains(kind.Verbs, "list") || !slices.Contains(kind.Verbs, "create") || kind.Kind == "Event" {
			continue
		}
		for obj, err := range client.All(kind.dynamic()).Each(ctx, nil) {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			if err := writeDocument(&out, obj); err != nil {
				return nil, fmt.Errorf("%s %s: %w", kind, obj.GetName(), err)
			}
		}
	}
	return out.Bytes(), nil
}

func writeDocument(out *bytes.Buffer, obj *unstructured.Unstructured) error {
	stripServerFields(obj)
	data, err := yaml.Marshal(obj.Object)
	if err != nil {
		return err
	}
	out.WriteString("---\n")
	out.Write(data)
	return nil
}
