package kubetest

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// schemas are the structural schemas of a definition, by version.
type schemas map[string]*structuralschema.Structural

// compileSchemas reads the schemas of all versions.
func (d *definition) compileSchemas() (schemas, error) {
	compiled := schemas{}
	for i := range d.spec.Versions {
		v := &d.spec.Versions[i]
		props, err := internalSchema(v)
		if err != nil {
			return nil, err
		}
		if props == nil {
			continue
		}
		s, err := structuralschema.NewStructural(props)
		if err != nil && !d.spec.PreserveUnknownFields {
			return nil, fmt.Errorf("the schema of version %s is not structural: %w", v.Name, err)
		}
		if !d.spec.PreserveUnknownFields {
			s = s.DeepCopy() // it shares defaults with props
			if err := defaulting.PruneDefaults(s); err != nil {
				return nil, fmt.Errorf("prune the defaults of version %s: %w", v.Name, err)
			}
		}
		compiled[v.Name] = s
	}
	return compiled, nil
}

// internalSchema returns the schema of a version in the form that validation wants; nil if it
// has none.
func internalSchema(v *apiextensionsv1.CustomResourceDefinitionVersion) (*apiextensions.JSONSchemaProps, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, internal, nil); err != nil {
		return nil, fmt.Errorf("convert the schema of version %s: %w", v.Name, err)
	}
	return internal.OpenAPIV3Schema, nil
}

// checks is what objects of a version are validated with.
type checks struct {
	structural *structuralschema.Structural
	object     validation.SchemaValidator
	status     validation.SchemaValidator // nil if the schema says nothing about the status
	rules      *cel.Validator             // nil if there are none
}

func (v *definedVersion) compileChecks() (*checks, error) {
	structural, err := v.schemas()
	if err != nil {
		return nil, err
	}
	props, err := internalSchema(v.version)
	if err != nil {
		return nil, err
	}
	c := &checks{structural: structural[v.version.Name]}
	if c.object, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	if status, ok := statusSchema(props); ok {
		if c.status, _, err = validation.NewSchemaValidator(status); err != nil {
			return nil, err
		}
	}
	c.rules = cel.NewValidator(c.structural, true, celconfig.PerCallLimit)
	return c, nil
}

func statusSchema(props *apiextensions.JSONSchemaProps) (*apiextensions.JSONSchemaProps, bool) {
	if props == nil {
		return nil, false
	}
	status, ok := props.Properties["status"]
	return &status, ok
}

// coerce removes what the schema does not have, and nulls that nothing allows.
func (v *definedVersion) coerce(u *unstructured.Unstructured, report bool) (unknown []string, err error) {
	structural, err := v.schemas()
	if err != nil {
		return nil, err
	}
	kind, apiVersion := u.GetKind(), u.GetAPIVersion()
	meta, hasMeta, unknown, err := schemaobjectmeta.GetObjectMetaWithOptions(u.Object, schemaobjectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: report})
	if err != nil {
		return nil, err
	}
	gvk := u.GroupVersionKind()
	if gvk.Group == v.spec.Group && gvk.Kind == v.names.Kind {
		s := structural[gvk.Version]
		if !v.spec.PreserveUnknownFields {
			unknown = append(unknown, pruning.PruneWithOptions(u.Object, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: report})...)
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s)
		}
		err, paths := schemaobjectmeta.CoerceWithOptions(nil, u.Object, s, false, schemaobjectmeta.CoerceOptions{ReturnUnknownFieldPaths: report})
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, paths...)
	}
	// The schema says nothing about these.
	if kind != "" {
		u.SetKind(kind)
	}
	if apiVersion != "" {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		return unknown, schemaobjectmeta.SetObjectMeta(u.Object, meta)
	}
	return unknown, nil
}

// setDefaults fills in the defaults of the schema.
func (v *definedVersion) setDefaults(obj runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	structural, err := v.schemas()
	if err != nil {
		return // coerce has said so
	}
	if gvk := u.GroupVersionKind(); gvk.Group == v.spec.Group && gvk.Kind == v.names.Kind {
		defaulting.Default(u.Object, structural[gvk.Version])
	}
}
