package kube_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

func configMap(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprint("map-", i), ResourceVersion: fmt.Sprint(i + 1),
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody"}},
		},
		Data: map[string]string{"number": fmt.Sprint(i)},
	}
}

// What an endpoint hands over is what keep returns: here every second object is one that is there already.
func TestEndpointKeeping(t *testing.T) {
	for name, opts := range map[string]*apitest.Options{"JSON": {}, "protobuf": {HTTP2: true, Protobuf: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, opts)
				known, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), configMap(1000))
				if err != nil {
					t.Fatal(err)
				}
				endpoint := srv.Client().All(core.ConfigMaps).Endpoint().Keeping(func(lent *resource.Raw) *resource.Raw {
					if lent.ResourceVersion() > "5" {
						return known
					}
					return lent.Clone()
				})
				var items []any
				var want []string
				for i := range 9 {
					items = append(items, configMap(i))
					want = append(want, fmt.Sprintf("map-%d: %d", i, i))
				}
				for i := 5; i < 9; i++ {
					want[i] = "map-1000: 1000"
				}

				srv.Expect("GET /api/v1/configmaps").List("10", "", items...)
				var got []*resource.Raw
				if _, err := endpoint.ListPage(t.Context(), nil, func(raw *resource.Raw) error {
					got = append(got, raw)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				wantKept(t, got, want)

				watch := srv.Expect("GET /api/v1/configmaps?watch=true").Watch()
				for _, item := range items {
					watch.Send("ADDED", item)
				}
				watch.Close()
				stream, err := endpoint.OpenWatch(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				got = nil
				for event, err := stream.Next(); err == nil; event, err = stream.Next() {
					if event.Type != kube.Added || event.ResourceVersion != event.Object.ResourceVersion() {
						t.Errorf("got event %+v", event)
					}
					got = append(got, event.Object)
				}
				wantKept(t, got, want)
				if got[8] != known {
					t.Error("an object that keep returned was copied")
				}
			})
		})
	}
}

func wantKept(t *testing.T, raws []*resource.Raw, want []string) {
	t.Helper()
	var got []string
	for raw := range slices.Values(raws) {
		obj, err := resource.AsLazy[corev1.ConfigMap](raw).Decode()
		if err != nil {
			t.Fatal(err)
		}
		if len(obj.ManagedFields) > 0 {
			t.Error("managedFields were kept")
		}
		got = append(got, obj.Name+": "+obj.Data["number"])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
