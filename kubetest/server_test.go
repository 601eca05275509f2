package kubetest_test

import (
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

func TestCreateGetUpdateDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv := kubetest.Start(t, nil)
		maps := srv.Client().Namespaced(core.ConfigMaps, "default")
		created, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if created.UID == "" || created.ResourceVersion == "" || created.CreationTimestamp.IsZero() {
			t.Errorf("created without uid, version or time: %+v", created.ObjectMeta)
		}
		created.Data["k"] = "w"
		updated, err := maps.Replace(ctx, created, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Replace(ctx, created, nil); !errors.Is(err, kube.ErrConflict) {
			t.Errorf("an outdated update: %v, want a conflict", err)
		}
		got, err := maps.Get(ctx, "a")
		if err != nil || got.Data["k"] != "w" || got.ResourceVersion != updated.ResourceVersion {
			t.Errorf("got %v, %v", got, err)
		}
		if err := maps.Delete(ctx, "a", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Get(ctx, "a"); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}
