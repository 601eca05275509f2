package kube

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Discovery is what an API server serves, as it was when [Client.Discover] asked. It never
// changes, and is safe for concurrent use.
type Discovery struct{ groups []*ServedGroup }

// ServedGroup is an API group.
type ServedGroup struct {
	// Name is empty for the core group.
	Name string
	// Versions are in the server's order of preference: the first one is preferred.
	Versions []ServedVersion
}

// ServedVersion is a version of a group.
type ServedVersion struct {
	// Name is that of the version, such as v1.
	Name string
	// Kinds are what can be addressed in this version. Those that come with a program have typed
	// descriptors in the packages below k8s; these are for kinds that are known at run time
	// only. Verbs, short names, categories and the names of subresources are filled in.
	Kinds []resource.DynamicKind
	// Err says why Kinds may not be all, or not the newest: the server that serves this version
	// for the API server does not answer. It is nil where all is well.
	Err error
}

// Discover asks what the server serves: two requests where it knows the aggregated form
// (Kubernetes 1.26 and later), and otherwise one for each version of each group besides.
//
// A version that cannot be read does not keep the others from the caller: its error is in
// [ServedVersion.Err] and in [Discovery.Err].
// See https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
func (c *Client) Discover(ctx context.Context) (*Discovery, error) {
	d := &Discovery{}
	for _, path := range []string{"/api", "/apis"} {
		groups, err := c.discoverGroups(ctx, path)
		if path == "/api" && errors.Is(err, ErrNotFound) {
			continue // an extension server has no core group
		}
		if err != nil {
			return nil, err
		}
		d.groups = append(d.groups, groups...)
	}
	return d, nil
}

// Groups returns the groups in the server's order, the core group first.
func (d *Discovery) Groups() []*ServedGroup { return slices.Clone(d.groups) }

// Group returns the group with this name, the core group for an empty one; nil if the server
// has none of that name.
func (d *Discovery) Group(name string) *ServedGroup {
	i := slices.IndexFunc(d.groups, func(g *ServedGroup) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return d.groups[i]
}

// Err joins the errors of the versions that could not be read; nil if there are none.
func (d *Discovery) Err() error {
	var all []error
	for _, g := range d.groups {
		for _, v := range g.Versions {
			if v.Err != nil {
				all = append(all, fmt.Errorf("%s: %w", schema.GroupVersion{Group: g.Name, Version: v.Name}, v.Err))
			}
		}
	}
	return errors.Join(all...)
}

// Kinds goes through every kind in the version of its group that is to be preferred.
func (d *Discovery) Kinds() iter.Seq[resource.DynamicKind] {
	return func(yield func(resource.DynamicKind) bool) {
		for _, g := range d.groups {
			for _, k := range g.Kinds() {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// Kind returns the kind that an object's apiVersion and kind name. Without a version, it is the
// preferred one of those that have the kind.
func (d *Discovery) Kind(want schema.GroupVersionKind) (resource.DynamicKind, error) {
	k, ok := d.find(want.Group, want.Version, func(i *resource.Info) bool { return i.Kind == want.Kind })
	if !ok {
		return k, d.missing("kind", dotted(want.Kind, want.Version, want.Group))
	}
	return k, nil
}

// Resource returns the kind with this plural name. Without a version, it is the preferred one of
// those that have the resource.
func (d *Discovery) Resource(want schema.GroupVersionResource) (resource.DynamicKind, error) {
	k, ok := d.find(want.Group, want.Version, func(i *resource.Info) bool { return i.Plural == want.Resource })
	if !ok {
		return k, d.missing("resource", dotted(want.Resource, want.Version, want.Group))
	}
	return k, nil
}

// dotted is what kubectl calls a kind: deployments.v1.apps.
func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ".")
}

func (d *Discovery) find(group, version string, match func(*resource.Info) bool) (resource.DynamicKind, bool) {
	g := d.Group(group)
	if g == nil {
		return resource.DynamicKind{}, false
	}
	for _, v := range g.Versions {
		if version != "" && v.Name != version {
			continue
		}
		for _, k := range v.Kinds {
			if match(&k.Descriptor().Info) {
				return k, true
			}
		}
	}
	return resource.DynamicKind{}, false
}

// Lookup finds a kind by what a person calls it, as kubectl does: the plural, the singular or the
// kind in any case, or a short name; deployments.apps and deployments.v1.apps say which group
// and version is meant. Where several groups have the name, full names come before short ones,
// then the server's order of groups decides.
func (d *Discovery) Lookup(word string) (resource.DynamicKind, error) {
	name, rest, dotted := strings.Cut(strings.ToLower(word), ".")
	version, group, _ := strings.Cut(rest, ".")
	for _, match := range []func(*resource.Info) bool{
		func(i *resource.Info) bool {
			return name == i.Plural || name == i.Singular || name == strings.ToLower(i.Kind)
		},
		func(i *resource.Info) bool { return slices.Contains(i.ShortNames, name) },
	} {
		if k, ok := d.find(group, version, match); dotted && ok {
			return k, nil
		}
		for _, g := range d.groups {
			if dotted && g.Name != rest {
				continue
			}
			if k, ok := d.find(g.Name, "", match); ok {
				return k, nil
			}
		}
	}
	return resource.DynamicKind{}, d.missing("resource", word)
}

// Category returns the kinds of a category, such as all, each in its preferred version.
func (d *Discovery) Category(name string) []resource.DynamicKind {
	var kinds []resource.DynamicKind
	for k := range d.Kinds() {
		if slices.Contains(k.Descriptor().Categories, name) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// missing is a 404 in words, with what could not be read: the kind may be there.
func (d *Discovery) missing(what, name string) error {
	err := fmt.Errorf("kube: the server has no %s %q: %w", what, name, ErrNotFound)
	if unread := d.Err(); unread != nil {
		err = fmt.Errorf("%w; not all of its groups could be read: %w", err, unread)
	}
	return err
}

// Kinds returns every kind of the group once, in the first of its versions that has it.
func (g *ServedGroup) Kinds() []resource.DynamicKind { return g.once(g.Versions) }

// KindsByStability is [ServedGroup.Kinds] with the order of the versions' names in place of the
// server's: stable, beta, alpha. See [resource.CompareVersions].
func (g *ServedGroup) KindsByStability() []resource.DynamicKind {
	return g.once(slices.SortedFunc(slices.Values(g.Versions), func(a, b ServedVersion) int {
		return resource.CompareVersions(a.Name, b.Name)
	}))
}

func (g *ServedGroup) once(versions []ServedVersion) []resource.DynamicKind {
	var kinds []resource.DynamicKind
	seen := map[string]bool{}
	for _, v := range versions {
		for _, k := range v.Kinds {
			if plural := k.Descriptor().Plural; !seen[plural] {
				seen[plural] = true
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}
