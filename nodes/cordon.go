package nodes

import (
	"context"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

// Cordon keeps new pods off the node called name. Those that run there stay.
func Cordon(ctx context.Context, client *kube.Client, name string) error {
	return setUnschedulable(ctx, client, name, true)
}

// Uncordon lets pods onto the node called name again.
func Uncordon(ctx context.Context, client *kube.Client, name string) error {
	return setUnschedulable(ctx, client, name, nil)
}

func setUnschedulable(ctx context.Context, client *kube.Client, name string, value any) error {
	patch := kube.StrategicPatch(map[string]any{"spec": map[string]any{"unschedulable": value}})
	_, err := client.All(core.Nodes).Patch(ctx, name, patch, nil)
	return err
}
