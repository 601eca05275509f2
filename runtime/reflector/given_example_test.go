package reflector_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// A store of the objects in the files of a folder, without a cluster.
func ExampleFromEvents() {
	folder, err := os.MkdirTemp("", "pods")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	for name, text := range map[string]string{
		"web.json": `{"metadata":{"name":"web","namespace":"default"},"spec":{"nodeName":"n1"}}`,
		"db.json":  `{"metadata":{"name":"db","namespace":"default"},"spec":{"nodeName":"n2"}}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}

	type event = watcher.Event[corev1.Pod]
	fromFiles := func(ctx context.Context) iter.Seq[event] {
		return func(yield func(event) bool) {
			if !yield(event{Type: watcher.Init}) {
				return
			}
			names, _ := filepath.Glob(filepath.Join(folder, "*.json"))
			for _, name := range names {
				text, err := os.ReadFile(name)
				if err != nil {
					return // which ends the reflector with an error
				}
				raw, err := resource.ParseRaw(core.Pods.Descriptor(), text)
				if err != nil || !yield(event{Type: watcher.InitApply, Object: resource.AsLazy[corev1.Pod](raw)}) {
					return
				}
			}
			if yield(event{Type: watcher.InitDone}) {
				<-ctx.Done() // nothing happens to files here
			}
		}
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r := reflector.FromEvents(core.Pods, fromFiles, nil)
	r.Index(byNode)
	go r.Run(ctx)
	if err := r.Store().WaitReady(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Store().Len(), "pods")
	for pod := range byNode.Lookup(r.Store(), "n2") {
		fmt.Println(pod.Ref(), "is on n2")
	}
	// Output:
	// 2 pods
	// default/db is on n2
}
