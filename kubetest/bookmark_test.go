package kubetest_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube"
	autoscalingv1 "github.com/go-kube/kube/k8s/autoscaling/v1"
	"github.com/go-kube/kube/k8s/events"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
)

// A bookmark of a kind that is stored in another version is one of that kind.
func TestBookmarksOfConvertedKinds(t *testing.T) {
	srv := kubetest.Start(t, &kubetest.Options{Objects: []runtime.Object{&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: "old"},
		InvolvedObject: corev1.ObjectReference{Namespace: "default", Kind: "Pod", Name: "p"},
	}}})
	wantBookmark(t, srv, events.Events, 1)
	wantBookmark(t, srv, resource.Dynamic(events.Events.Descriptor().Info, resource.NamespaceScoped), 1)
	wantBookmark(t, srv, autoscalingv1.HorizontalPodAutoscalers, 0)
}

// wantBookmark reads a streaming list to its end.
func wantBookmark[K any](t *testing.T, srv *kubetest.Server, kind resource.Kind[K], objects int) {
	t.Helper()
	opts := &kube.WatchOptions{SendInitialEvents: true, Timeout: 5 * time.Second}
	found := 0
	for event, err := range srv.Client().All(kind).Watch(t.Context(), opts) {
		if err != nil {
			t.Errorf("%s: %v", kind.Descriptor().Info, err)
			return
		}
		if event.Type == kube.Bookmark {
			if found != objects || event.ResourceVersion == "" {
				t.Errorf("%s: %d objects before the bookmark at %q, want %d", kind.Descriptor().Info, found, event.ResourceVersion, objects)
			}
			return
		}
		found++
	}
	t.Errorf("%s: the watch ended without a bookmark", kind.Descriptor().Info)
}
