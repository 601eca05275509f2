package kube

import (
	"context"
	"fmt"

	"github.com/go-kube/kube/internal/codec"
)

// groupList is as much of APIGroupList as [Endpoint.Served] needs, and resourceList of
// APIResourceList.
type groupList struct {
	Kind   string `json:"kind"`
	Groups []struct {
		Name     string `json:"name"`
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	} `json:"groups"`
}

type resourceList struct {
	Kind      string `json:"kind"`
	Resources []struct {
		Name string `json:"name"`
	} `json:"resources"`
}

// Served asks discovery whether the server has the kind, in this version or another of its group. An
// answer of 404 to a request for objects does not say that: a proxy in front of the server,
// or an aggregated API that starts, answers like this for a while. False is certain: discovery has
// answered, and does not list the kind. What cannot be told for certain is an error.
func (e Endpoint) Served(ctx context.Context) (bool, error) {
	if e.kind.Group == "" {
		return e.servedAt(ctx, "/api/"+e.kind.Version)
	}
	var list groupList
	if err := e.discover(ctx, "/apis", &list); err != nil {
		return false, err
	}
	if list.Kind != "APIGroupList" {
		return false, fmt.Errorf("kube: the answer to GET /apis is of kind %q and not APIGroupList", list.Kind)
	}
	for _, group := range list.Groups {
		if group.Name != e.kind.Group {
			continue
		}
		for _, v := range group.Versions {
			if served, err := e.servedAt(ctx, "/apis/"+group.Name+"/"+v.Version); served || err != nil {
				return served, err
			}
		}
	}
	return false, nil
}

// servedAt asks for the resources of one version of the group.
func (e Endpoint) servedAt(ctx context.Context, path string) (bool, error) {
	var list resourceList
	if err := e.discover(ctx, path, &list); err != nil {
		return false, err
	}
	if list.Kind != "APIResourceList" {
		return false, fmt.Errorf("kube: the answer to GET %s is of kind %q and not APIResourceList", path, list.Kind)
	}
	for _, r := range list.Resources {
		if r.Name == e.kind.Plural {
			return true, nil
		}
	}
	return false, nil
}

func (e Endpoint) discover(ctx context.Context, path string, into any) error {
	body, _, err := e.client.document(ctx, path, mediaJSON)
	if err != nil {
		return err
	}
	if err := codec.DecodeJSON(body, into); err != nil {
		return &Error{Verb: "get", Resource: path, Err: err}
	}
	return nil
}
