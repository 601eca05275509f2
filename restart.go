package kube

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// restartedAt is kubectl's annotation.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// Restart replaces the pods of a Deployment, StatefulSet or DaemonSet by its own rules of updating,
// as kubectl rollout restart does: with an annotation in the pod template that has the time. It
// does not wait. A Deployment that is paused restarts when it is resumed. Any other kind is an
// error: a changed template would do nothing to its pods.
func (a API[K]) Restart(ctx context.Context, name string) (*K, error) {
	kind := a.endpoint.kind
	switch kind.Kind {
	case "Deployment", "StatefulSet", "DaemonSet":
		if kind.Group == "apps" {
			now := time.Now().UTC().Format(time.RFC3339)
			return a.Patch(ctx, name, MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{restartedAt: now}},
			}}}), nil)
		}
	}
	r := &request{verb: "patch", method: http.MethodPatch, namespace: a.endpoint.namespace, name: name}
	return nil, a.endpoint.fail(r, fmt.Errorf("a %s cannot be restarted; Deployments, StatefulSets and DaemonSets of apps can", kind.Kind))
}
