package resource_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

// BenchmarkDecode shows what a Lazy adds to decoding the same bytes.
func BenchmarkDecode(b *testing.B) {
	for name, d := range map[string]*resource.Descriptor{"protobuf": core.Pods.Descriptor(), "json": podsJSON.Descriptor()} {
		lazy := resource.AsLazy[corev1.Pod](must(resource.EncodeRaw(d, newPod())))
		b.Run(name+"/lazy", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lazy.Decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pod := new(corev1.Pod)
				decode := codec.DecodeJSON
				if d.Protobuf {
					decode = func(data []byte, _ any) error { return pod.Unmarshal(data) }
				}
				if err := decode(lazy.Bytes(), pod); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
