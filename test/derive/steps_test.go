package derive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// each calls visit for every schema of a definition, parents first.
func each(def *apiextensionsv1.CustomResourceDefinition, visit func(*apiextensionsv1.JSONSchemaProps)) {
	for _, v := range def.Spec.Versions {
		walk(v.Schema.OpenAPIV3Schema, visit)
	}
}

func walk(s *apiextensionsv1.JSONSchemaProps, visit func(*apiextensionsv1.JSONSchemaProps)) {
	visit(s)
	for name, property := range s.Properties {
		walk(&property, visit)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		walk(s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(s.AdditionalProperties.Schema, visit)
	}
}

// oldUnion is the rule of a union as controller-gen wrote it before v0.22.
var oldUnion = regexp.MustCompile(`^\[(has\(self\.\w+\)(?:,has\(self\.\w+\))*)\]\.filter\(x,x==true\)\.size\(\) (==|<=|>=) 1$`)

// newUnions writes the rules of unions as controller-gen does since v0.22: it counts with
// additions, which costs less.
func newUnions(def *apiextensionsv1.CustomResourceDefinition) {
	each(def, func(s *apiextensionsv1.JSONSchemaProps) {
		for i, rule := range s.XValidations {
			if parts := oldUnion.FindStringSubmatch(rule.Rule); parts != nil {
				terms := strings.Split(parts[1], ",")
				for i, term := range terms {
					terms[i] = "(" + term + "?1:0)"
				}
				s.XValidations[i].Rule = fmt.Sprintf("%s %s 1", strings.Join(terms, "+"), parts[2])
			}
		}
	})
}

// oneStored has the last of several versions stored that are all marked as that: the API server takes one.
func oneStored(def *apiextensionsv1.CustomResourceDefinition, stored string) {
	for i := range def.Spec.Versions {
		v := &def.Spec.Versions[i]
		v.Storage = v.Name == stored
	}
}

// snapshotsOf leaves out a version whose Go types are gone, and the lines that controller-gen has passed over
// since v0.16, and takes back a change by hand: a quantity that is a string only.
func snapshotsOf(def *apiextensionsv1.CustomResourceDefinition) {
	def.Spec.Versions = slices.DeleteFunc(def.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return def.Spec.Group == "snapshot.storage.k8s.io" && v.Name == "v1beta1"
	})
	each(def, func(s *apiextensionsv1.JSONSchemaProps) {
		s.Description = todoLine.ReplaceAllLiteralString(s.Description, "")
		if s.XIntOrString && s.Type == "string" {
			s.Type, s.AnyOf = "", []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}}
		}
	})
}

var todoLine = regexp.MustCompile(`\nTODO: .*`)

// gatewayTags does what the generator of gateway-api does after controller-gen: tags in
// descriptions, as in <gateway:experimental:validation:Enum=A;B>, are constraints of the
// experimental channel, and are taken out of the text.
// See https://gateway-api.sigs.k8s.io/concepts/versioning/
func gatewayTags(def *apiextensionsv1.CustomResourceDefinition) {
	root := func(s *apiextensionsv1.JSONSchemaProps) bool {
		for _, v := range def.Spec.Versions {
			if v.Schema.OpenAPIV3Schema == s {
				return true
			}
		}
		return false
	}
	each(def, func(s *apiextensionsv1.JSONSchemaProps) {
		if !root(s) {
			gatewayTag(s)
		}
	})
}

var (
	gatewayEnum    = regexp.MustCompile(`<gateway:experimental:validation:Enum=([^>]*)>`)
	gatewayPattern = regexp.MustCompile("<gateway:experimental:validation:Pattern=`([^`]*)`")
	gatewayRule    = regexp.MustCompile(`<gateway:experimental:validation:XValidation:message="([^"]*)",rule="([^"]*)">`)
	gatewayHidden  = regexp.MustCompile(`(?s)\n*<gateway:util:excludeFromCRD>.*?</gateway:util:excludeFromCRD>\n*`)
	gatewayOther   = regexp.MustCompile(`</?gateway:.*>`)
	blankLines     = regexp.MustCompile(`\n{4,}`)
)

func gatewayTag(s *apiextensionsv1.JSONSchemaProps) {
	text := s.Description
	if strings.Contains(text, "<gateway:validateIPAddress>") {
		s.Items.Schema.OneOf = addressUnion()
	}
	for _, tag := range gatewayEnum.FindAllStringSubmatch(text, -1) {
		s.Enum = nil
		for value := range strings.SplitSeq(tag[1], ";") {
			s.Enum = append(s.Enum, quoted(value))
		}
	}
	for _, tag := range gatewayRule.FindAllStringSubmatch(text, -1) {
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Message: tag[1], Rule: tag[2]})
	}
	if tag := gatewayPattern.FindStringSubmatch(text); tag != nil && s.Pattern == "" {
		s.Pattern = tag[1]
	}
	text = strings.NewReplacer("<gateway:experimental:description>", "", "</gateway:experimental:description>", "").Replace(text)
	text = gatewayOther.ReplaceAllLiteralString(gatewayHidden.ReplaceAllLiteralString(text, "\n\n\n"), "")
	s.Description = strings.Trim(blankLines.ReplaceAllLiteralString(text, "\n\n\n"), "\n")
}

// addressUnion says that a value beside the type IPAddress is an address.
func addressUnion() []apiextensionsv1.JSONSchemaProps {
	type props = apiextensionsv1.JSONSchemaProps
	address := props{Enum: []apiextensionsv1.JSON{quoted("IPAddress")}}
	return []props{
		{Properties: map[string]props{"type": address, "value": {AnyOf: []props{{Format: "ipv4"}, {Format: "ipv6"}}}}},
		{Properties: map[string]props{"type": {Not: &address}}},
	}
}

func quoted(text string) apiextensionsv1.JSON {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return apiextensionsv1.JSON{Raw: raw}
}
