package crd

import (
	"fmt"
	"reflect"
	"slices"
)

// controller-gen writes a field as a reference to its type beside the constraints of the
// field, and joins the two at the end. What both constrain differently goes into allOf. The
// order of the steps decides what the YAML looks like, so that these are its steps.

// refer replaces the references below s by what they refer to, with the constraints and texts
// that stand beside them.
func (m *marking) refer(s *props) {
	for s.Ref != nil {
		field := *s
		field.Ref = nil
		*s = *m.resolved(*s.Ref).DeepCopy()
		joinField(s, field)
		return
	}
	each(s, m.refer)
}

// joinField puts what a field says beside what its type says. Texts of the field win.
func joinField(s *props, field props) {
	texts := field
	field.Description, field.Title, field.ExternalDocs, field.Example = "", "", nil, nil
	joined := props{
		AllOf:        []props{*s, field},
		Description:  s.Description,
		Title:        s.Title,
		ExternalDocs: s.ExternalDocs,
		Example:      s.Example,
	}
	if texts.Description != "" {
		joined.Description = texts.Description
	}
	if texts.Title != "" {
		joined.Title = texts.Title
	}
	if texts.ExternalDocs != nil {
		joined.ExternalDocs = texts.ExternalDocs
	}
	if texts.Example != nil {
		joined.Example = texts.Example
	}
	*s = joined
}

// flatten merges what stands in allOf into its node, from the root down.
func (m *marking) flatten(s *props) {
	branches := s.AllOf
	s.AllOf = nil
	for i := range branches {
		m.merge(s, &branches[i])
	}
	each(s, m.flatten)
}

// merge merges src and its allOf into dst.
func (m *marking) merge(dst, src *props) {
	for i := range src.AllOf {
		m.merge(dst, &src.AllOf[i])
	}
	if len(dst.Enum) == 0 {
		dst.Enum = src.Enum
	}
	var dstRest, srcRest props
	to, from := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	hoisted := false
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		if slices.Contains([]string{"AllOf", "Title", "Description", "Example", "ExternalDocs", "Enum"}, name) || from.Field(i).IsZero() {
			continue
		}
		switch {
		case to.Field(i).IsZero():
			to.Field(i).Set(from.Field(i))
		case from.Field(i).Comparable() && from.Field(i).Equal(to.Field(i)):
		case !m.mergeField(name, dst, src):
			reflect.ValueOf(&srcRest).Elem().Field(i).Set(from.Field(i))
			reflect.ValueOf(&dstRest).Elem().Field(i).Set(to.Field(i))
			to.Field(i).SetZero()
			hoisted = true
		}
	}
	if hoisted {
		dst.AllOf = append(dst.AllOf, dstRest, srcRest)
	}
	slices.Sort(dst.Required)
	dst.Required = slices.Compact(dst.Required)
}

// mergeField merges a member that both have, or reports false where both have to stay.
func (m *marking) mergeField(name string, dst, src *props) bool {
	switch name {
	case "Properties":
		for _, key := range keysOf(src.Properties) {
			from := src.Properties[key]
			p, both := dst.Properties[key]
			if both {
				m.merge(&p, &from)
			} else {
				p = from
			}
			dst.Properties[key] = p
		}
	case "Required":
		dst.Required = append(slices.Clone(dst.Required), src.Required...)
	case "MinProperties":
		return *dst.MinProperties == *src.MinProperties
	case "MaxProperties":
		return *dst.MaxProperties == *src.MaxProperties
	case "Type":
		m.fail(fmt.Errorf("the type %s of a field does not agree with that of its Go type, %s", src.Type, dst.Type))
	case "AdditionalProperties":
		if dst.AdditionalProperties.Schema == nil {
			dst.AdditionalProperties.Schema = &props{}
		}
		if src.AdditionalProperties.Schema != nil {
			m.merge(dst.AdditionalProperties.Schema, src.AdditionalProperties.Schema)
		}
	case "XPreserveUnknownFields":
		dst.XPreserveUnknownFields = src.XPreserveUnknownFields
	case "XMapType":
		dst.XMapType = src.XMapType
	case "XListType":
		dst.XListType = src.XListType
	case "XListMapKeys":
		dst.XListMapKeys = src.XListMapKeys
	case "XValidations":
		dst.XValidations = append(slices.Clone(src.XValidations), dst.XValidations...)
	default:
		return false
	}
	return true
}
