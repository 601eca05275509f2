package cel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json" // whole numbers become int64, which the rules expect
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Validator judges objects of one version of a kind. It may be used by any number of
// goroutines at the same time.
type Validator struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
	// status judges the status alone, where it is a subresource; nil where it is not.
	status     validation.SchemaValidator
	scale      *apiextensions.CustomResourceSubresourceScale
	apiVersion string
	kind       string
}

// New compiles the schema and the rules of a version. The definition has to be one that
// [Check] accepts.
func New(def *apiextensionsv1.CustomResourceDefinition, version string) (*Validator, error) {
	if err := Check(context.Background(), def); err != nil {
		return nil, err
	}
	internal, err := internalOf(def)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(internal, version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		return nil, fmt.Errorf("cel: %s, version %s: %w", def.Name, version, err)
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		return nil, fmt.Errorf("cel: %s, version %s: %w", def.Name, version, err)
	}
	v := &Validator{
		structural: structural,
		schema:     validator,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
		apiVersion: def.Spec.Group + "/" + version,
		kind:       def.Spec.Names.Kind,
	}
	if err := v.addSubresources(internal, version, schema); err != nil {
		return nil, fmt.Errorf("cel: %s, version %s: %w", def.Name, version, err)
	}
	return v, nil
}

// schemaOf returns the schema of a version, which internal definitions keep in one of two
// places.
func schemaOf(def *apiextensions.CustomResourceDefinition, version string) (*apiextensions.JSONSchemaProps, error) {
	named := func(v apiextensions.CustomResourceDefinitionVersion) bool { return v.Name == version }
	if !slices.ContainsFunc(def.Spec.Versions, named) {
		return nil, fmt.Errorf("cel: %s has no version %q", def.Name, version)
	}
	schema, err := apiextensions.GetSchemaForVersion(def, version)
	if err != nil {
		return nil, fmt.Errorf("cel: %w", err)
	}
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("cel: %s: version %q has no schema", def.Name, version)
	}
	return schema.OpenAPIV3Schema, nil
}

// Validate judges an object that is created: its values and rules, after defaults. The error
// has all that is wrong as a field.ErrorList, see [Faults]. obj may be a pointer to a Go type
// of the kind, a map[string]any or JSON as []byte. The name and other metadata are not looked
// at, and neither is a status that is a subresource: the server drops it. obj is not changed.
func (v *Validator) Validate(ctx context.Context, obj any) error {
	tree, err := v.tree(obj)
	if err != nil {
		return err
	}
	if v.status != nil {
		delete(tree, "status")
	}
	errs := validation.ValidateCustomResource(nil, tree, v.schema)
	errs = append(errs, v.scaleFaults(tree, true)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, tree, v.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, tree)...)
	return v.judge(ctx, errs, tree, nil)
}

// ValidateUpdate judges an object that takes the place of old. Rules that name oldSelf are
// judged too; what was wrong in old already and did not change is let through, as the server
// does (ratcheting, https://kep.k8s.io/4008). A status that is a subresource is that of old:
// see [Validator.ValidateStatus].
func (v *Validator) ValidateUpdate(ctx context.Context, obj, old any) error {
	tree, before, err := v.trees(obj, old)
	if err != nil {
		return err
	}
	if v.status != nil {
		setStatus(tree, before)
	}
	correlated := common.NewCorrelatedObject(tree, before, &model.Structural{Structural: v.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, tree, before, v.schema, validation.WithRatcheting(correlated))
	errs = append(errs, v.scaleFaults(tree, true)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, tree, v.structural, false)...)
	errs = append(errs, v.newListFaults(tree, before)...)
	return v.judge(ctx, errs, tree, before, cel.WithRatcheting(correlated))
}

// ValidateStatus judges an update of the status subresource: an object whose status takes the
// place of that of old. All else of the object is that of old. Rules of the whole kind are
// judged, as the server does. It is an error for a version without this subresource.
func (v *Validator) ValidateStatus(ctx context.Context, obj, old any) error {
	if v.status == nil {
		return fmt.Errorf("cel: %s of %s has no status subresource", v.kind, v.apiVersion)
	}
	written, before, err := v.trees(obj, old)
	if err != nil {
		return err
	}
	tree := runtime.DeepCopyJSON(before)
	setStatus(tree, written)
	correlated := common.NewCorrelatedObject(tree, before, &model.Structural{Structural: v.structural})
	var errs field.ErrorList
	if status, ok := tree["status"]; ok {
		errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, before["status"], v.status, validation.WithRatcheting(correlated.Key("status")))
	}
	errs = append(errs, v.scaleFaults(tree, false)...)
	errs = append(errs, v.newListFaults(tree, before)...)
	return v.judge(ctx, errs, tree, before, cel.WithRatcheting(correlated))
}

// judge goes on with the rules, where nothing is so wrong that these could not be judged.
func (v *Validator) judge(ctx context.Context, errs field.ErrorList, tree, old map[string]any, options ...cel.Option) error {
	switch {
	case v.rules == nil:
	case slices.ContainsFunc(errs, isBlocking):
		errs = append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	default:
		var before any // a nil map would not be no object
		if old != nil {
			before = old
		}
		failed, _ := v.rules.Validate(ctx, nil, v.structural, tree, before, celconfig.RuntimeCELCostBudget, options...)
		errs = append(errs, failed...)
	}
	if len(errs) == 0 {
		return nil
	}
	return &Invalid{Kind: v.kind, Faults: errs}
}

// isBlocking reports whether rules cannot be judged beside a fault.
func isBlocking(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// Default returns obj as JSON with the defaults of the schema in it and without the fields that
// it does not have, as the server keeps it.
func (v *Validator) Default(obj any) ([]byte, error) {
	tree, err := v.tree(obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// tree returns an object as the server sees it.
func (v *Validator) tree(obj any) (map[string]any, error) {
	tree, err := decode(obj)
	if err != nil {
		return nil, fmt.Errorf("cel: %s: %w", v.kind, err)
	}
	if _, ok := tree["apiVersion"]; !ok {
		tree["apiVersion"] = v.apiVersion
	}
	if _, ok := tree["kind"]; !ok {
		tree["kind"] = v.kind
	}
	if tree["apiVersion"] != v.apiVersion || tree["kind"] != v.kind {
		return nil, fmt.Errorf("cel: the object is a %v of %v, and the schema that of a %s of %s", tree["kind"], tree["apiVersion"], v.kind, v.apiVersion)
	}
	pruning.Prune(tree, v.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(tree, v.structural)
	defaulting.Default(tree, v.structural)
	return tree, nil
}

// trees returns an object and the one whose place it takes.
func (v *Validator) trees(obj, old any) (tree, before map[string]any, err error) {
	if tree, err = v.tree(obj); err != nil {
		return nil, nil, err
	}
	if before, err = v.tree(old); err != nil {
		return nil, nil, fmt.Errorf("the object that was there: %w", err)
	}
	return tree, before, nil
}

func decode(obj any) (map[string]any, error) {
	raw, isJSON := obj.([]byte)
	switch o := obj.(type) {
	case nil:
		return nil, errors.New("the object is nil")
	case map[string]any:
		return runtime.DeepCopyJSON(o), nil
	}
	if !isJSON {
		var err error
		if raw, err = json.Marshal(obj); err != nil {
			return nil, err
		}
	}
	tree := map[string]any{}
	if err := utiljson.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	return tree, nil
}

// Invalid is what is wrong with an object.
type Invalid struct {
	Kind   string
	Faults field.ErrorList
}

// Error returns all faults, in the words of the API server.
func (e *Invalid) Error() string {
	return fmt.Sprintf("%s is invalid: %v", e.Kind, e.Faults.ToAggregate())
}

// Faults returns what is wrong with an object by an error of [Validator.Validate] or
// [Validator.ValidateUpdate], with paths, types and messages. It is nil for other errors.
func Faults(err error) field.ErrorList {
	if invalid, ok := errors.AsType[*Invalid](err); ok {
		return invalid.Faults
	}
	return nil
}
