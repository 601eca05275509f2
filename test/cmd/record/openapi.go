package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/url"
)

// openAPI returns an archive of OpenAPI documents; see package recorded for what is in it.
func (r *recorder) openAPI(ctx context.Context) ([]byte, error) {
	a := &archive{entries: map[string][]byte{}, schemas: map[string][]jsontext.Value{}}
	if err := r.documents(ctx, a); err != nil {
		return nil, err
	}
	var err error
	if a.entries["v2"], err = r.get(ctx, "/openapi/v2", "application/json"); err != nil {
		return nil, err
	}
	if err := r.templates(ctx, a); err != nil {
		return nil, err
	}
	if err := a.addJSON("schemas", a.schemas); err != nil {
		return nil, err
	}
	return a.bytes()
}

// documents adds the documents of version 3, and their hashes.
func (r *recorder) documents(ctx context.Context, a *archive) error {
	index, err := r.index(ctx)
	if err != nil {
		return err
	}
	hashes := map[string]string{}
	for path, link := range index {
		data, err := r.get(ctx, link.path, "application/json")
		if err != nil {
			return err
		}
		if err := a.addDocument("v3/"+path, data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		hashes[path] = link.hash
	}
	return a.addJSON("hashes", hashes)
}

// link is where a document is.
type link struct{ path, hash string }

// index returns the documents of version 3 that there are.
func (r *recorder) index(ctx context.Context) (map[string]link, error) {
	data, err := r.get(ctx, "/openapi/v3", "application/json")
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	links := map[string]link{}
	for path, p := range index.Paths {
		u, err := url.Parse(p.ServerRelativeURL)
		if err != nil {
			return nil, err
		}
		links[path] = link{u.String(), u.Query().Get("hash")}
	}
	return links, nil
}
