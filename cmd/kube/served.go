package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// servedKinds are the kinds of a server.
type servedKinds struct {
	kinds map[schema.GroupVersionKind]*servedKind
	order []*servedKind // of discovery; the preferred version of each kind only
}

// servedKind is a kind that a server has.
type servedKind struct {
	resource.Info
	scope resource.Scope
}

func (k *servedKind) namespaced() bool { return k.scope == resource.NamespaceScoped }

func (k *servedKind) dynamic() resource.DynamicKind { return resource.Dynamic(k.Info, k.scope) }

// discover asks a server for its kinds.
func discover(ctx context.Context, client *kube.Client) (*servedKinds, error) {
	served := &servedKinds{kinds: map[schema.GroupVersionKind]*servedKind{}}
	for _, path := range []string{"/api", "/apis"} {
		list, err := aggregated(ctx, client, path)
		if err != nil {
			return nil, fmt.Errorf("discovery: GET %s: %w", path, err)
		}
		for i := range list.Items {
			served.addGroup(&list.Items[i])
		}
	}
	return served, nil
}

func aggregated(ctx context.Context, client *kube.Client, path string) (*apidiscoveryv2.APIGroupDiscoveryList, error) {
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	rq.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	response, err := client.Do(rq)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", response.Status)
	}
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	return list, json.UnmarshalRead(response.Body, list)
}

func (s *servedKinds) addGroup(g *apidiscoveryv2.APIGroupDiscovery) {
	seen := map[string]bool{}
	for _, v := range g.Versions {
		for _, r := range v.Resources {
			k := &servedKind{Info: resource.Info{
				Group: g.Name, Version: v.Version, Kind: r.ResponseKind.Kind, Plural: r.Resource, Singular: r.SingularResource, Verbs: r.Verbs,
			}}
			if r.Scope == apidiscoveryv2.ScopeCluster {
				k.scope = resource.ClusterScoped
			}
			for _, sub := range r.Subresources {
				k.Subresources = append(k.Subresources, sub.Subresource)
			}
			s.kinds[k.GroupVersionKind()] = k
			if !seen[k.Plural] {
				seen[k.Plural] = true
				s.order = append(s.order, k)
			}
		}
	}
}
