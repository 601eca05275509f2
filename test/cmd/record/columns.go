package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// columns returns the columns of the tables of all kinds, by group/version and resource.
func (r *recorder) columns(ctx context.Context) ([]byte, error) {
	all := map[string]json.RawMessage{}
	versions, err := r.groupVersions(ctx)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		path := "/apis/" + version
		if !strings.Contains(version, "/") {
			path = "/api/" + version
		}
		var list metav1.APIResourceList
		if err := r.read(ctx, path, &list); err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") {
				continue
			}
			data, err := r.get(ctx, path+"/"+resource.Name, acceptTable)
			if err != nil {
				return nil, err
			}
			var table struct{ ColumnDefinitions json.RawMessage }
			if err := json.Unmarshal(data, &table); err != nil {
				return nil, err
			}
			all[version+" "+resource.Name] = table.ColumnDefinitions
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return compressed(data)
}

// groupVersions returns every version of every group.
func (r *recorder) groupVersions(ctx context.Context) ([]string, error) {
	var groups metav1.APIGroupList
	if err := r.read(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	versions := []string{"v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	return versions, nil
}

// read decodes the answer to GET path.
func (r *recorder) read(ctx context.Context, path string, into any) error {
	data, err := r.get(ctx, path, "application/json")
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
