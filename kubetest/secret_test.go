package kubetest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// TestStringData checks that stringData becomes data, whatever way it comes.
func TestStringData(t *testing.T) {
	secrets := kubetest.Start(t, nil).Client().Namespaced(core.Secrets, "default")
	secret := func(data map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: data}
	}
	steps := []struct {
		name  string
		write func() (*corev1.Secret, error)
		want  map[string][]byte
	}{
		{"create", func() (*corev1.Secret, error) {
			return secrets.Create(t.Context(), secret(map[string]string{"a": "1", "b": "2"}), nil)
		}, map[string][]byte{"a": []byte("1"), "b": []byte("2")}},
		{"replace", func() (*corev1.Secret, error) {
			return secrets.Replace(t.Context(), secret(map[string]string{"a": "3"}), nil)
		}, map[string][]byte{"a": []byte("3")}},
		{"patch", func() (*corev1.Secret, error) {
			return secrets.Patch(t.Context(), "s", kube.MergePatch(map[string]any{"stringData": map[string]any{"b": "4"}}), nil)
		}, map[string][]byte{"a": []byte("3"), "b": []byte("4")}},
		{"apply", func() (*corev1.Secret, error) {
			return secrets.Apply(t.Context(), secret(map[string]string{"c": "5"}), "test", nil)
		}, map[string][]byte{"a": []byte("3"), "b": []byte("4"), "c": []byte("5")}},
	}
	for _, step := range steps {
		got, err := step.write()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, got.Data); diff != "" || got.StringData != nil {
			t.Errorf("%s: stringData %v; data (-want +got):\n%s", step.name, got.StringData, diff)
		}
	}
}
