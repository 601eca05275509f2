package kubetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/resource"
)

// discovery is what a server tells about the kinds of one catalog. It never changes.
type discovery struct {
	catalog *catalog
	groups  []servedGroup // the core group is the first
}

// servedGroup is an API group, its preferred version first.
type servedGroup struct {
	name     string
	versions []servedVersion
}

// servedVersion is a version of a group.
type servedVersion struct {
	name      string
	resources []servedResource
}

// servedResource is a kind with its subresources.
type servedResource struct {
	kind *kind
	subs []servedSubresource
}

// servedSubresource is a subresource. Group and version are empty where they are those of the kind.
type servedSubresource struct {
	name, group, version, kind string
	verbs                      []string
}

// discovery returns what is served now.
func (s *Server) discovery() *discovery {
	c := s.kinds.catalog()
	if d := s.discovered.Load(); d != nil && d.catalog == c {
		return d
	}
	d := &discovery{catalog: c, groups: groupsOf(c.kinds)}
	s.discovered.Store(d)
	return d
}

func (d *discovery) group(name string) *servedGroup {
	for i := range d.groups {
		if g := &d.groups[i]; g.name == name {
			return g
		}
	}
	return nil
}

func (d *discovery) version(group, name string) *servedVersion {
	g := d.group(group)
	if g == nil {
		return nil
	}
	for i := range g.versions {
		if v := &g.versions[i]; v.name == name {
			return v
		}
	}
	return nil
}

// groupsOf returns the groups of kinds. Built-in groups and their versions stay in the order of
// the kinds, which is that of their priorities; those of custom resources follow by name, and
// their versions in the order of Kubernetes' version priority.
func groupsOf(kinds []*kind) []servedGroup {
	var groups []servedGroup
	custom := map[string]bool{}
	for _, k := range kinds {
		i := slices.IndexFunc(groups, func(g servedGroup) bool { return g.name == k.Group })
		if i < 0 {
			i, groups = len(groups), append(groups, servedGroup{name: k.Group})
			custom[k.Group] = k.custom
		}
		groups[i].add(k)
	}
	slices.SortStableFunc(groups, func(a, b servedGroup) int {
		if !custom[a.name] || !custom[b.name] {
			return cmp.Compare(rank(custom[a.name]), rank(custom[b.name]))
		}
		return strings.Compare(a.name, b.name)
	})
	for _, g := range groups {
		g.sort(custom[g.name])
	}
	return groups
}

func rank(custom bool) int {
	if custom {
		return 1
	}
	return 0
}

func (g *servedGroup) add(k *kind) {
	i := slices.IndexFunc(g.versions, func(v servedVersion) bool { return v.name == k.Version })
	if i < 0 {
		i, g.versions = len(g.versions), append(g.versions, servedVersion{name: k.Version})
	}
	g.versions[i].resources = append(g.versions[i].resources, servedResource{kind: k, subs: k.servedSubresources()})
}

func (g *servedGroup) sort(custom bool) {
	if custom {
		slices.SortFunc(g.versions, func(a, b servedVersion) int { return resource.CompareVersions(a.name, b.name) })
	}
	for _, v := range g.versions {
		slices.SortFunc(v.resources, func(a, b servedResource) int { return strings.Compare(a.kind.Plural, b.kind.Plural) })
	}
}

// servedSubresources returns the subresources of k in the order of discovery.
func (k *kind) servedSubresources() []servedSubresource {
	names := sortedKeys(k.subresources)
	if k.custom {
		slices.Reverse(names) // status stands before scale there
	}
	subs := make([]servedSubresource, 0, len(names))
	for _, name := range names {
		subs = append(subs, k.subresources[name].served(k))
	}
	return subs
}

func (sub *subresource) served(k *kind) servedSubresource {
	d := servedSubresource{name: sub.name, kind: k.Kind, verbs: []string{verbGet, verbPatch, verbUpdate}}
	if b := sub.body; b != nil {
		if sub.name != "log" { // whose options stand in the query and are not told
			d.kind = b.Kind
		}
		if len(b.Verbs) > 0 {
			d.verbs = b.Verbs
		}
		if b.Group != k.Group || b.Version != k.Version {
			d.group, d.version = b.Group, b.Version
		}
	}
	return d
}

// olderStorage are the versions that a real server keeps objects in where these are not the
// served ones: versions that the release before can read.
var olderStorage = map[schema.GroupResource]string{
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}:   "v1beta1",
	{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}:          "v1beta1",
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}:       "v1beta1",
	{Group: "resource.k8s.io", Resource: "devicetaintrules"}:                 "v1beta2",
	{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}: "v1beta1",
}

// storageVersionHash returns what tells clients that the version of storage has changed, empty
// for what is not stored.
func (c *catalog) storageVersionHash(k *kind) string {
	if k.table == nil || !k.allows(verbWatch) {
		return ""
	}
	stored := c.storedIn(k.table)
	if stored == nil {
		stored = k
	}
	version := stored.Version
	if older := olderStorage[k.GroupResource()]; older != "" {
		version = older
	}
	sum := sha256.Sum256([]byte(stored.Group + "/" + version + "/" + stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// apiResources returns a version as the discovery of one version has it.
func (c *catalog) apiResources(v *servedVersion) []metav1.APIResource {
	list := []metav1.APIResource{}
	for _, r := range v.resources {
		k := r.kind
		list = append(list, metav1.APIResource{
			Name: k.Plural, SingularName: k.Singular, Namespaced: k.namespaced(), Kind: k.Kind, Verbs: k.Verbs,
			ShortNames: k.ShortNames, Categories: k.Categories, StorageVersionHash: c.storageVersionHash(k),
		})
		for _, sub := range r.subs {
			list = append(list, metav1.APIResource{
				Name: k.Plural + "/" + sub.name, Namespaced: k.namespaced(),
				Group: sub.group, Version: sub.version, Kind: sub.kind, Verbs: sub.verbs,
			})
		}
	}
	return list
}

// apiGroup returns a group as the list of groups has it.
func (g *servedGroup) apiGroup() metav1.APIGroup {
	a := metav1.APIGroup{Name: g.name}
	for _, v := range g.versions {
		a.Versions = append(a.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.name + "/" + v.name, Version: v.name})
	}
	a.PreferredVersion = a.Versions[0]
	return a
}
