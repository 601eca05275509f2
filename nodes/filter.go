package nodes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mirrorAnnotation is on the API server's copy of a static pod.
const mirrorAnnotation = "kubernetes.io/config.mirror"

// errStays is why a pod is left alone.
type errStays string

func (e errStays) Error() string { return string(e) }

// pods lists what to evict. Pods that may not be are one error.
func (d *drain) pods(ctx context.Context) ([]*corev1.Pod, error) {
	var evict []*corev1.Pod
	var refused []error
	opts := &kube.ListOptions{Fields: "spec.nodeName=" + d.node, Labels: d.Labels}
	for pod, err := range d.client.All(core.Pods).Each(ctx, opts) {
		if err != nil {
			return nil, err
		}
		why := d.judge(ctx, pod)
		if stays := errStays(""); errors.As(why, &stays) {
			d.tell(Skipped, pod, stays)
			continue
		}
		if why != nil {
			refused = append(refused, fmt.Errorf("pod %s/%s %w", pod.Namespace, pod.Name, why))
			continue
		}
		evict = append(evict, pod)
	}
	return evict, errors.Join(refused...)
}

// judge returns nil for a pod to evict, errStays for one to leave alone, and otherwise why the
// options do not allow to evict it.
func (d *drain) judge(ctx context.Context, pod *corev1.Pod) error {
	if _, ok := pod.Annotations[mirrorAnnotation]; ok {
		return errStays("a static pod, which only its kubelet can end")
	}
	owner := metav1.GetControllerOf(pod)
	finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if owner != nil && owner.Kind == "DaemonSet" && !finished {
		return d.judgeDaemon(ctx, pod, owner)
	}
	switch {
	case finished || pod.DeletionTimestamp != nil:
		return nil
	case owner == nil && !d.Force:
		return errors.New("has no controller that would make it again (Force evicts it)")
	case hasEmptyDir(pod) && !d.DeleteEmptyDirData:
		return errors.New("has an emptyDir volume, whose data would be lost (DeleteEmptyDirData evicts it)")
	}
	return nil
}

func (d *drain) judgeDaemon(ctx context.Context, pod *corev1.Pod, owner *metav1.OwnerReference) error {
	_, err := d.client.All(apps.DaemonSets).Resolve(ctx, kube.ToOwner(*owner, pod.Namespace))
	switch {
	case apierrors.IsNotFound(err) && d.Force:
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("belongs to DaemonSet %s, which is gone (Force evicts it)", owner.Name)
	case err != nil:
		return fmt.Errorf("belongs to DaemonSet %s, which cannot be read: %w", owner.Name, err)
	case !d.IgnoreDaemonSets:
		return fmt.Errorf("belongs to DaemonSet %s, which would make it again (IgnoreDaemonSets leaves it)", owner.Name)
	}
	return errStays("of DaemonSet " + owner.Name)
}

func hasEmptyDir(pod *corev1.Pod) bool {
	for _, v := range pod.Spec.Volumes {
		if v.EmptyDir != nil {
			return true
		}
	}
	return false
}
