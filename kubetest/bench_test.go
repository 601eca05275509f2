package kubetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// BenchmarkStart is a server from nothing to its first answered request. The median of all is
// ms-median.
func BenchmarkStart(b *testing.B) {
	var took []time.Duration
	defer reportMedian(b, &took)
	for b.Loop() {
		start := time.Now()
		srv, err := kubetest.NewServer(nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := srv.Client().All(core.Namespaces).Get(b.Context(), "default"); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		srv.Close()
	}
}

// reportMedian reports the median of what was measured in milliseconds.
func reportMedian(b *testing.B, took *[]time.Duration) {
	slices.Sort(*took)
	if n := len(*took); n > 0 {
		b.ReportMetric((*took)[n/2].Seconds()*1000, "ms-median")
	}
}

// BenchmarkCreate is one creation by a client, over the network in memory.
func BenchmarkCreate(b *testing.B) {
	for _, kind := range []string{"ConfigMap", "Pod"} {
		b.Run(kind, func(b *testing.B) {
			srv := kubetest.Start(b, nil)
			create := creatorOf(kind, srv.Client())
			n := 0
			for b.Loop() {
				n++
				if err := create(b.Context(), fmt.Sprintf("object-%d", n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCreate10000 is 10 000 creations by a client, over the network in memory, on a new
// server. The processor time of client and server together is cpu-s/op.
func BenchmarkCreate10000(b *testing.B) {
	for _, kind := range []string{"ConfigMap", "Pod"} {
		b.Run(kind, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				srv, err := kubetest.NewServer(nil)
				if err != nil {
					b.Fatal(err)
				}
				create, before := creatorOf(kind, srv.Client()), cpuTime(b)
				for n := range 10_000 {
					if err := create(b.Context(), fmt.Sprintf("object-%d", n)); err != nil {
						b.Fatal(err)
					}
				}
				cpu += cpuTime(b) - before
				srv.Close()
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

func creatorOf(kind string, client *kube.Client) func(ctx context.Context, name string) error {
	if kind == "Pod" {
		pods := client.Namespaced(core.Pods, "default")
		return func(ctx context.Context, name string) error {
			_, err := pods.Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.27"}}},
			}, nil)
			return err
		}
	}
	maps := client.Namespaced(core.ConfigMaps, "default")
	return func(ctx context.Context, name string) error {
		_, err := maps.Create(ctx, configMap(name), nil)
		return err
	}
}

// BenchmarkWatchEvent is a change, from its request until its event is with a client. The median
// of all is ms-median.
func BenchmarkWatchEvent(b *testing.B) {
	srv := kubetest.Start(b, nil)
	maps := srv.Client().Namespaced(core.ConfigMaps, "default")
	cm, err := maps.Create(b.Context(), configMap("a"), nil)
	if err != nil {
		b.Fatal(err)
	}
	arrived := make(chan string)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: cm.ResourceVersion}) {
			if err != nil {
				return
			}
			arrived <- ev.ResourceVersion
		}
	}()
	n := 0
	var took []time.Duration
	defer reportMedian(b, &took)
	for b.Loop() {
		n++
		start := time.Now()
		cm.Data = map[string]string{"n": fmt.Sprint(n)}
		if cm, err = maps.Replace(b.Context(), cm, nil); err != nil {
			b.Fatal(err)
		}
		if v := <-arrived; v != cm.ResourceVersion {
			b.Fatalf("event of version %s, want %s", v, cm.ResourceVersion)
		}
		took = append(took, time.Since(start))
	}
	cancel()
	<-done
}

// BenchmarkList is a list of 1000 objects, read and decoded.
func BenchmarkList(b *testing.B) {
	srv := kubetest.Start(b, nil)
	create := creatorOf("Pod", srv.Client())
	for n := range 1000 {
		if err := create(b.Context(), fmt.Sprintf("object-%d", n)); err != nil {
			b.Fatal(err)
		}
	}
	pods := srv.Client().Namespaced(core.Pods, "default")
	for b.Loop() {
		if list, err := pods.List(b.Context(), nil); err != nil || len(list.Items) != 1000 {
			b.Fatal(err)
		}
	}
}
