package cel

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// addSubresources reads which subresources a version has.
func (v *Validator) addSubresources(def *apiextensions.CustomResourceDefinition, version string, schema *apiextensions.JSONSchemaProps) error {
	subresources, err := apiextensions.GetSubresourcesForVersion(def, version)
	if err != nil || subresources == nil {
		return err
	}
	v.scale = subresources.Scale
	if subresources.Status == nil {
		return nil
	}
	status := schema.Properties["status"] // an empty schema takes anything
	v.status, _, err = validation.NewSchemaValidator(&status)
	return err
}

// setStatus gives an object the status of another.
func setStatus(tree, of map[string]any) {
	delete(tree, "status")
	if status, ok := of["status"]; ok {
		tree["status"] = status
	}
}

// newListFaults returns what is wrong with sets and maps, where nothing was wrong with those of
// the object that was there.
func (v *Validator) newListFaults(tree, before map[string]any) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, before)) > 0 {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, v.structural, tree)
}

// scaleFaults returns what is wrong with the fields of the scale subresource, with the replicas
// that are wanted or without.
func (v *Validator) scaleFaults(tree map[string]any, withSpec bool) (errs field.ErrorList) {
	if v.scale == nil {
		return nil
	}
	if withSpec {
		errs = append(errs, replicaFaults(tree, v.scale.SpecReplicasPath)...)
	}
	errs = append(errs, replicaFaults(tree, v.scale.StatusReplicasPath)...)
	if path := v.scale.LabelSelectorPath; path != nil {
		if text, _, err := unstructured.NestedString(tree, pathNames(*path)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), text, err.Error()))
		}
	}
	return errs
}

func replicaFaults(tree map[string]any, path string) field.ErrorList {
	replicas, _, err := unstructured.NestedInt64(tree, pathNames(path)...)
	fault := ""
	switch {
	case err != nil:
		fault = err.Error()
	case replicas < 0:
		fault = "should be a non-negative integer"
	case replicas > math.MaxInt32:
		fault = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path), replicas, fault)}
}

func pathNames(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
