package main

import (
	"context"
	"fmt"

	"github.com/go-kube/kube"
)

// await returns the first state of the object hello for which ok holds.
func await[K any](ctx context.Context, api kube.API[K], ok func(*K) bool) (*K, error) {
	kind := api.Endpoint().Descriptor().Kind
	var last *K
	for event, err := range api.Watch(ctx, &kube.WatchOptions{Fields: "metadata.name=" + name}) {
		if err != nil {
			return nil, fmt.Errorf("waiting for %s %s, last seen as %v: %w", kind, name, last, err)
		}
		if event.Type != kube.Added && event.Type != kube.Modified {
			continue
		}
		if last, err = event.Object.Decode(); err != nil {
			return nil, err
		}
		if ok(last) {
			return last, nil
		}
	}
	return nil, fmt.Errorf("the watch of %s %s ended", kind, name)
}

// gone waits until there is no object hello.
func gone[K any](ctx context.Context, api kube.API[K]) error {
	const fields = "metadata.name=" + name
	list, err := api.List(ctx, &kube.ListOptions{Fields: fields})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	for event, err := range api.Watch(ctx, &kube.WatchOptions{Fields: fields, ResourceVersion: list.ResourceVersion}) {
		if err != nil {
			return err
		}
		if event.Type == kube.Deleted {
			return nil
		}
	}
	return fmt.Errorf("the watch of %s ended", name)
}
