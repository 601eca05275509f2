package kubetest

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// scaleAccess returns where a custom resource has what the scale subresource shows.
func (v *definedVersion) scaleAccess() *scaleAccess {
	scale := v.scale()
	number := func(obj runtime.Object, path string) (int32, bool, error) {
		n, found, err := unstructured.NestedInt64(obj.(*unstructured.Unstructured).Object, splitPath(path)...)
		return int32(n), found, err
	}
	return &scaleAccess{
		custom:   true,
		path:     scale.SpecReplicasPath,
		paths:    v.replicasPaths(),
		replicas: func(obj runtime.Object) (int32, bool, error) { return number(obj, scale.SpecReplicasPath) },
		setReplicas: func(obj runtime.Object, replicas int32) error {
			return unstructured.SetNestedField(obj.(*unstructured.Unstructured).Object, int64(replicas), splitPath(scale.SpecReplicasPath)...)
		},
		status: func(obj runtime.Object) (status autoscalingv1.ScaleStatus, err error) {
			if status.Replicas, _, err = number(obj, scale.StatusReplicasPath); err != nil || scale.LabelSelectorPath == nil {
				return status, err
			}
			status.Selector, _, err = unstructured.NestedString(obj.(*unstructured.Unstructured).Object, splitPath(*scale.LabelSelectorPath)...)
			return status, err
		},
	}
}

// replicasPaths returns where each version says how many replicas it wants; nil for those that
// do not.
func (d *definition) replicasPaths() managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	for i := range d.spec.Versions {
		v := &d.spec.Versions[i]
		version := schema.GroupVersion{Group: d.spec.Group, Version: v.Name}.String()
		paths[version] = nil
		if v.Subresources == nil || v.Subresources.Scale == nil {
			continue
		}
		var path fieldpath.Path
		for _, name := range splitPath(v.Subresources.Scale.SpecReplicasPath) {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		paths[version] = path
	}
	return paths
}
