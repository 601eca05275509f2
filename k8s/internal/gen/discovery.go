package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// group is an API group as discovery reports it, its preferred version first.
type group struct {
	name     string
	versions []version
}

// version is a served version of a group.
type version struct {
	name      string
	resources []*kind
}

// kind is a served resource.
type kind struct {
	apiResource
	subresources []apiResource
}

// apiResource has the fields of metav1.APIResource that matter here. Group and Version are
// set only where they differ from those of the list.
type apiResource struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Group        string   `json:"group"`
	Version      string   `json:"version"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
	ShortNames   []string `json:"shortNames"`
	Categories   []string `json:"categories"`
}

// readDiscovery reads the unaggregated documents below dir: api__v1.json for the core group,
// apis.json for the list of groups, apis__GROUP__VERSION.json for the rest.
func readDiscovery(dir string) ([]group, error) {
	core, err := readVersion(filepath.Join(dir, "api__v1.json"), "v1")
	if err != nil {
		return nil, err
	}
	var list struct {
		Groups []struct {
			Name             string
			Versions         []struct{ Version string }
			PreferredVersion struct{ Version string }
		}
	}
	if err := readJSON(filepath.Join(dir, "apis.json"), &list); err != nil {
		return nil, err
	}
	groups := []group{{name: "", versions: []version{core}}}
	for _, g := range list.Groups {
		out := group{name: g.Name}
		if len(g.Versions) == 0 || g.Versions[0].Version != g.PreferredVersion.Version {
			return nil, fmt.Errorf("group %s: its first version is not the preferred one, %s", g.Name, g.PreferredVersion.Version)
		}
		for _, v := range g.Versions {
			read, err := readVersion(filepath.Join(dir, "apis__"+g.Name+"__"+v.Version+".json"), v.Version)
			if err != nil {
				return nil, err
			}
			out.versions = append(out.versions, read)
		}
		groups = append(groups, out)
	}
	return groups, nil
}

func readVersion(path, name string) (version, error) {
	var list struct{ Resources []apiResource }
	if err := readJSON(path, &list); err != nil {
		return version{}, err
	}
	v := version{name: name}
	byName := map[string]*kind{}
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") {
			k := &kind{apiResource: r}
			byName[r.Name] = k
			v.resources = append(v.resources, k)
		}
	}
	for _, r := range list.Resources {
		parent, sub, ok := strings.Cut(r.Name, "/")
		if !ok {
			continue
		}
		k := byName[parent]
		if k == nil {
			return version{}, fmt.Errorf("%s: subresource %s has no parent", path, r.Name)
		}
		r.Name = sub
		k.subresources = append(k.subresources, r)
	}
	return v, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
