package cel

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// Check judges a definition as the API server does when it is created: names, schemas,
// defaults, columns, and the rules, which are compiled, with the estimate of what they cost. It
// returns nil or an error with everything that the server would refuse, in its words.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#resource-use-by-validation-functions
func Check(ctx context.Context, def *apiextensionsv1.CustomResourceDefinition) error {
	internal, err := internalOf(def)
	if err != nil {
		return err
	}
	if errs := validation.ValidateCustomResourceDefinition(ctx, internal); len(errs) > 0 {
		return fmt.Errorf("cel: definition %s: %w", def.Name, errs.ToAggregate())
	}
	return nil
}

// CheckUpdate judges a definition that takes the place of another one, old, which was accepted:
// beside [Check], what may not change once a definition is established.
func CheckUpdate(ctx context.Context, def, old *apiextensionsv1.CustomResourceDefinition) error {
	internal, err := internalOf(def)
	if err != nil {
		return err
	}
	before, err := internalOf(old)
	if err != nil {
		return err
	}
	internal.ResourceVersion, before.ResourceVersion = "1", "1"
	if errs := validation.ValidateCustomResourceDefinitionUpdate(ctx, internal, before); len(errs) > 0 {
		return fmt.Errorf("cel: definition %s: %w", def.Name, errs.ToAggregate())
	}
	return nil
}

// internalOf returns a definition in the server's form, with what it would add before it looks.
func internalOf(def *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	if def == nil {
		return nil, fmt.Errorf("cel: the definition is nil")
	}
	full := def.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(full)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&full.Spec)
	if full.Status.StoredVersions == nil {
		for _, v := range full.Spec.Versions {
			if v.Storage {
				full.Status.StoredVersions = []string{v.Name}
			}
		}
	}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(full, internal, nil); err != nil {
		return nil, fmt.Errorf("cel: definition %s: %w", def.Name, err)
	}
	return internal, nil
}
