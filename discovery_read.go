package kube

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

const (
	aggregatedAs = "APIGroupDiscoveryList"
	// acceptAggregated asks for the aggregated form, v2 of Kubernetes 1.30 and v2beta1 of 1.26, and
	// takes the plain one.
	acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=" + aggregatedAs +
		",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=" + aggregatedAs + ",application/json"
	// discoveryParallel bounds the requests that plain discovery makes at the same time.
	discoveryParallel = 8
)

var errStale = errors.New("the server that serves this version does not answer; what is known of it is old")

// aggregatedList is apidiscovery.k8s.io APIGroupDiscoveryList, v2 and v2beta1 alike.
type aggregatedList struct {
	Items []struct {
		Metadata metav1.ObjectMeta   `json:"metadata"`
		Versions []aggregatedVersion `json:"versions"`
	} `json:"items"`
}

type aggregatedVersion struct {
	Version   string               `json:"version"`
	Resources []aggregatedResource `json:"resources"`
	Freshness string               `json:"freshness"`
}

type aggregatedResource struct {
	Resource         string                   `json:"resource"`
	ResponseKind     *metav1.GroupVersionKind `json:"responseKind"`
	Scope            string                   `json:"scope"`
	SingularResource string                   `json:"singularResource"`
	Verbs            []string                 `json:"verbs"`
	ShortNames       []string                 `json:"shortNames"`
	Categories       []string                 `json:"categories"`
	Subresources     []struct {
		Subresource string `json:"subresource"`
	} `json:"subresources"`
}

// discoverGroups reads the groups below /api or /apis.
func (c *Client) discoverGroups(ctx context.Context, path string) ([]*ServedGroup, error) {
	body, header, err := c.document(ctx, path, acceptAggregated)
	if err != nil {
		return nil, err
	}
	// A server that does not know the aggregated form sends the plain one, which would read as an
	// empty list.
	if _, params, err := mime.ParseMediaType(header.Get("Content-Type")); err == nil && params["as"] == aggregatedAs {
		return aggregatedGroups(body)
	}
	groups, err := plainGroups(path, body)
	if err != nil {
		return nil, err
	}
	return groups, c.readVersions(ctx, groups)
}

func aggregatedGroups(body []byte) ([]*ServedGroup, error) {
	var list aggregatedList
	if err := codec.DecodeJSON(body, &list); err != nil {
		return nil, fmt.Errorf("kube: decoding %s: %w", aggregatedAs, err)
	}
	groups := make([]*ServedGroup, len(list.Items))
	for i, item := range list.Items {
		groups[i] = &ServedGroup{Name: item.Metadata.Name}
		for _, v := range item.Versions {
			groups[i].Versions = append(groups[i].Versions, v.served(item.Metadata.Name))
		}
	}
	return groups, nil
}

func (v *aggregatedVersion) served(group string) ServedVersion {
	s := ServedVersion{Name: v.Version}
	if v.Freshness == "Stale" {
		s.Err = errStale
	}
	for _, r := range v.Resources {
		if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
			continue // a path that only has subresources
		}
		info := resource.Info{
			Group: group, Version: v.Version, Kind: r.ResponseKind.Kind, Plural: r.Resource, Singular: r.SingularResource,
			ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
		}
		for _, sub := range r.Subresources {
			info.Subresources = append(info.Subresources, sub.Subresource)
		}
		s.add(info, r.Scope == "Namespaced")
	}
	return s
}

// add takes a kind as the server describes it; what cannot be one is the version's error.
func (v *ServedVersion) add(info resource.Info, namespaced bool) {
	if err := info.Validate(); err != nil {
		v.Err = errors.Join(v.Err, err)
		return
	}
	scope := resource.ClusterScoped
	if namespaced {
		scope = resource.NamespaceScoped
	}
	v.Kinds = append(v.Kinds, resource.Dynamic(info, scope))
}

// plainGroups reads the names in an APIVersions (below /api) or APIGroupList.
func plainGroups(path string, body []byte) ([]*ServedGroup, error) {
	if path == "/api" {
		var versions metav1.APIVersions
		if err := codec.DecodeJSON(body, &versions); err != nil {
			return nil, fmt.Errorf("kube: decoding APIVersions: %w", err)
		}
		core := &ServedGroup{}
		for _, name := range versions.Versions {
			core.Versions = append(core.Versions, ServedVersion{Name: name})
		}
		return []*ServedGroup{core}, nil
	}
	var list metav1.APIGroupList
	if err := codec.DecodeJSON(body, &list); err != nil {
		return nil, fmt.Errorf("kube: decoding APIGroupList: %w", err)
	}
	var groups []*ServedGroup
	for _, item := range list.Groups {
		groups = append(groups, plainGroup(item))
	}
	return groups, nil
}

func plainGroup(item metav1.APIGroup) *ServedGroup {
	g := &ServedGroup{Name: item.Name}
	for _, v := range item.Versions {
		g.Versions = append(g.Versions, ServedVersion{Name: v.Version})
	}
	slices.SortStableFunc(g.Versions, func(a, b ServedVersion) int {
		switch item.PreferredVersion.Version {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return g
}

// readVersions fills in the kinds of groups. Only the end of ctx is an error.
func (c *Client) readVersions(ctx context.Context, groups []*ServedGroup) error {
	var wg sync.WaitGroup
	places := make(chan struct{}, discoveryParallel)
	for _, g := range groups {
		for i := range g.Versions {
			places <- struct{}{}
			wg.Go(func() {
				g.Versions[i] = c.readVersion(ctx, schema.GroupVersion{Group: g.Name, Version: g.Versions[i].Name})
				<-places
			})
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("kube: discovery: %w", context.Cause(ctx))
	}
	return nil
}

func (c *Client) readVersion(ctx context.Context, gv schema.GroupVersion) ServedVersion {
	path := "/apis/" + gv.Group + "/" + gv.Version
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	v := ServedVersion{Name: gv.Version}
	body, _, err := c.document(ctx, path, mediaJSON)
	var list metav1.APIResourceList
	if err == nil {
		err = codec.DecodeJSON(body, &list)
	}
	if err != nil {
		v.Err = err
		return v
	}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		info := resource.Info{
			Group: gv.Group, Version: gv.Version, Kind: r.Kind, Plural: r.Name, Singular: r.SingularName,
			ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
		}
		for _, sub := range list.APIResources {
			if name, ok := strings.CutPrefix(sub.Name, r.Name+"/"); ok {
				info.Subresources = append(info.Subresources, name)
			}
		}
		v.add(info, r.Namespaced)
	}
	return v
}

// DiscoverKind asks for one kind, by the apiVersion and kind of its objects, with one request. A
// kind that the server does not serve is [ErrNotFound].
func (c *Client) DiscoverKind(ctx context.Context, want schema.GroupVersionKind) (resource.DynamicKind, error) {
	if err := (resource.Info{Group: want.Group, Version: want.Version, Kind: want.Kind}).Validate(); err != nil {
		return resource.DynamicKind{}, prefixed(err)
	}
	v := c.readVersion(ctx, want.GroupVersion())
	if v.Err != nil && len(v.Kinds) == 0 {
		return resource.DynamicKind{}, v.Err
	}
	return (&Discovery{[]*ServedGroup{{want.Group, []ServedVersion{v}}}}).Kind(want)
}

// ServerVersion asks which version of Kubernetes the server is.
func (c *Client) ServerVersion(ctx context.Context) (*version.Info, error) {
	body, _, err := c.document(ctx, "/version", mediaJSON)
	if err != nil {
		return nil, err
	}
	info := &version.Info{}
	if err := codec.DecodeJSON(body, info); err != nil {
		return nil, fmt.Errorf("kube: decoding the server's version: %w", err)
	}
	return info, nil
}

// OpenAPIPaths lists the OpenAPI v3 documents that the server has: from the group and version, as
// api/v1 and apis/apps/v1, to the address of the document. An address changes when the document
// does.
// See https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
func (c *Client) OpenAPIPaths(ctx context.Context) (map[string]string, error) {
	body, _, err := c.document(ctx, "/openapi/v3", mediaJSON)
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := codec.DecodeJSON(body, &index); err != nil {
		return nil, fmt.Errorf("kube: decoding the list of OpenAPI documents: %w", err)
	}
	paths := make(map[string]string, len(index.Paths))
	for path, at := range index.Paths {
		paths[path] = at.URL
	}
	return paths, nil
}

// OpenAPI returns the OpenAPI v3 document of a group and version, such as v1 or apps/v1. One that
// the server does not have is [ErrNotFound].
func (c *Client) OpenAPI(ctx context.Context, apiVersion string) (jsontext.Value, error) {
	paths, err := c.OpenAPIPaths(ctx)
	if err != nil {
		return nil, err
	}
	path := "apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		path = "api/" + apiVersion
	}
	at, ok := paths[path]
	if !ok {
		return nil, fmt.Errorf("kube: the server has no OpenAPI document of %q: %w", apiVersion, ErrNotFound)
	}
	return c.Send(ctx, Request{Path: at})
}

// document gets what is at path, which is no object. It is bounded as unary requests are.
func (c *Client) document(ctx context.Context, path, accept string) ([]byte, http.Header, error) {
	req := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{"Accept": {accept}}}
	return c.receive(ctx, req, path)
}
