package kubetest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/kubetest/internal/recorded"
)

// customKind is a kind of a custom resource, with its definition.
type customKind struct {
	*kind
	definition *apiextensionsv1.CustomResourceDefinition
	version    *apiextensionsv1.CustomResourceDefinitionVersion
}

// customVersions returns the kinds of custom resources by the path of their OpenAPI document.
func (s *Server) customVersions(c *catalog) map[string][]*customKind {
	versions := map[string][]*customKind{}
	for _, k := range c.kinds {
		if !k.custom {
			continue
		}
		if custom := c.customKind(k); custom != nil {
			path := "apis/" + k.Group + "/" + k.Version
			versions[path] = append(versions[path], custom)
		}
	}
	return versions
}

// customKind returns k with its definition; nil if that has just been deleted.
func (c *catalog) customKind(k *kind) *customKind {
	definitions := c.byKind[apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")]
	if definitions == nil {
		return nil
	}
	o := definitions.table.get(key{name: k.Plural + "." + k.Group})
	if o == nil {
		return nil
	}
	def, ok := definitions.convert(o).(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(def.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == k.Version })
	if i < 0 {
		return nil
	}
	return &customKind{kind: k, definition: def, version: &def.Spec.Versions[i]}
}

// names returns a replacer of the sample's names by those of k.
func (k *customKind) names() *strings.Replacer {
	s := recorded.SampleOf(k.Scope.String())
	operation := func(group, version string) string {
		return operationID(strings.TrimSuffix(group, ".k8s.io"), true) + operationID(version, true)
	}
	tag := func(group, version string) string {
		return operationID(strings.TrimSuffix(group, ".k8s.io"), false) + "_" + operationID(version, false)
	}
	return strings.NewReplacer(
		modelName(s.Group, s.Version, s.List), modelName(k.Group, k.Version, k.list),
		modelName(s.Group, s.Version, s.Kind), modelName(k.Group, k.Version, k.Kind),
		"/"+s.Group+"/"+s.Version+"/", "/"+k.Group+"/"+k.Version+"/",
		operation(s.Group, s.Version), operation(k.Group, k.Version),
		tag(s.Group, s.Version), tag(k.Group, k.Version),
		s.Group, k.Group, s.Plural, k.Plural, s.Singular, k.Singular, s.List, k.list, s.Kind, k.Kind,
		`"`+s.Version+`"`, `"`+k.Version+`"`,
	)
}

// modelName is the name of a schema: the group backwards, version and kind.
func modelName(group, version, kind string) string {
	parts := strings.Split(group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + version + "." + kind
}

// operationID drops what cannot stand in a name, and starts the next word with a capital letter.
func operationID(s string, capital bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)):
			capital = true
			continue
		case capital:
			r = unicode.ToUpper(r)
		}
		capital = false
		b.WriteRune(r)
	}
	return b.String()
}

// has reports whether k has a subresource.
func (k *customKind) has(name string) bool { return k.subresources[name] != nil }

// paths returns the paths of a document of the sample that k has, with its names.
func (k *customKind) paths(sample map[string]jsontext.Value) map[string]jsontext.Value {
	names, paths := k.names(), map[string]jsontext.Value{}
	for path, item := range sample {
		if strings.HasSuffix(path, "/status") && !k.has("status") || strings.HasSuffix(path, "/scale") && !k.has("scale") {
			continue
		}
		paths[names.Replace(path)] = jsontext.Value(names.Replace(string(item)))
	}
	return paths
}

// customDocument returns the document of version 3 of one version of a group.
func customDocument(kinds []*customKind) ([]byte, error) {
	paths, schemas := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	for _, k := range kinds {
		var sample struct {
			Paths      map[string]jsontext.Value `json:"paths"`
			Components struct {
				Schemas map[string]jsontext.Value `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(recorded.Custom(k.Scope.String()), &sample); err != nil {
			return nil, err
		}
		maps.Copy(paths, k.paths(sample.Paths))
		if err := k.addSchemas(schemas, sample.Components.Schemas, k.schemaV3); err != nil {
			return nil, err
		}
		if !k.has("scale") {
			for name := range schemas {
				if strings.HasPrefix(name, "io.k8s.api.autoscaling.") {
					delete(schemas, name)
				}
			}
		}
	}
	document := struct {
		OpenAPI    string            `json:"openapi"`
		Info       map[string]string `json:"info"`
		Paths      any               `json:"paths"`
		Components any               `json:"components"`
	}{"3.0.0", map[string]string{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}, paths, map[string]any{"schemas": schemas}}
	return json.Marshal(document, json.Deterministic(true))
}

// addSchemas adds the schemas of a document of the sample, with that of the objects being k's.
func (k *customKind) addSchemas(to, sample map[string]jsontext.Value, schema func() (map[string]any, error)) error {
	names := k.names()
	for name, value := range sample {
		to[names.Replace(name)] = jsontext.Value(names.Replace(string(value)))
	}
	object, err := schema()
	if err != nil {
		return fmt.Errorf("schema of %s: %w", k.Kind, err)
	}
	data, err := json.Marshal(object, json.Deterministic(true))
	to[modelName(k.Group, k.Version, k.Kind)] = data
	return err
}
