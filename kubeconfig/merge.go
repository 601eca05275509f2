package kubeconfig

import (
	"encoding/json/jsontext"
)

// Merge adds to c what other has and c has not: entries by name, the current context, extensions
// and unknown fields. What c has stays as it is, whole: entries of the same name are not mixed.
// This is how kubectl reads a KUBECONFIG list, where the first file wins.
func (c *Config) Merge(other *Config) {
	if c.APIVersion == "" {
		c.APIVersion = other.APIVersion
	}
	if c.Kind == "" {
		c.Kind = other.Kind
	}
	if c.CurrentContext == "" {
		c.CurrentContext = other.CurrentContext
	}
	c.Clusters = added(c.Clusters, other.Clusters)
	c.Users = added(c.Users, other.Users)
	c.Contexts = added(c.Contexts, other.Contexts)
	c.Extensions = addedExtensions(c.Extensions, other.Extensions)
	for key, value := range other.Other {
		if _, known := c.Other[key]; known {
			continue
		}
		if c.Other == nil {
			c.Other = map[string]jsontext.Value{}
		}
		c.Other[key] = value.Clone()
	}
}

func added[E entry](list, more []E) []E {
	for _, i := range newNames(names(list), names(more)) {
		list = append(list, more[i])
	}
	return list
}

// newNames returns where in more the names stand that are not known, each the first time.
func newNames(known, more []string) (at []int) {
	seen := map[string]bool{}
	for _, name := range known {
		seen[name] = true
	}
	for i, name := range more {
		if !seen[name] {
			seen[name] = true
			at = append(at, i)
		}
	}
	return at
}

func addedExtensions(list, more []NamedExtension) []NamedExtension {
	known := map[string]bool{}
	for _, e := range list {
		known[e.Name] = true
	}
	for _, e := range more {
		if !known[e.Name] {
			list = append(list, e)
		}
	}
	return list
}
