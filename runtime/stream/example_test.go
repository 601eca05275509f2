package stream_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/runtime/stream"
	"github.com/go-kube/kube/runtime/watcher"
	corev1 "k8s.io/api/core/v1"
)

// serve starts an API server that tells events of pods of each namespace, one for each line.
func serve(events map[string][]string) (*kube.Client, func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, line := range events[r.PathValue("namespace")] {
			fmt.Fprintln(w, line)
		}
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); server.CloseClientConnections(); server.Close() }
}

const (
	web  = `{"type":"ADDED","object":{"metadata":{"name":"web","namespace":"red","uid":"a","resourceVersion":"1","generation":1,"labels":{"app":"web"}}}}`
	busy = `{"type":"MODIFIED","object":{"metadata":{"name":"web","namespace":"red","uid":"a","resourceVersion":"3","generation":1,"labels":{"app":"web"}}}}`
	gone = `{"type":"DELETED","object":{"metadata":{"name":"web","namespace":"red","uid":"a","resourceVersion":"4","generation":1,"labels":{"app":"web"}}}}`
	end  = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`
)

// What happens to pods: their changes alone, without those of the status.
func ExampleTouched() {
	client, stop := serve(map[string][]string{"red": {web, end, busy, gone}})
	defer stop()

	w := watcher.New(client.Namespaced(core.Pods, "red"), nil)
	changes := controller.Generation().Filter(stream.Touched(w.Events(context.Background())))
	for event := range changes {
		fmt.Println(event.Type, event.Object.Ref())
		if event.Type == watcher.Delete {
			break
		}
	}
	// Output:
	// Apply red/web
	// Delete red/web
}

// The objects of one kind name those of another: a sequence for Controller.ReconcileOn, say.
func ExampleMap() {
	client, stop := serve(map[string][]string{"red": {web, end}})
	defer stop()

	type app = resource.Ref[corev1.Service]
	services := func(ctx context.Context) iter.Seq[app] {
		pods := watcher.New(client.Namespaced(core.Pods, "red"), nil)
		named := stream.Filter(stream.Applied(pods.Events(ctx)), func(pod resource.Lazy[corev1.Pod]) bool {
			_, ok := pod.Label("app")
			return ok
		})
		return stream.Map(named, func(pod resource.Lazy[corev1.Pod]) app {
			name, _ := pod.Label("app")
			return app{Namespace: pod.Namespace(), Name: name}
		})
	}
	for ref := range services(context.Background()) {
		fmt.Println("service", ref)
		break
	}
	// Output:
	// service red/web
}

// Several watches as one loop. Both have ended when the loop is left.
func ExampleMerge() {
	client, stop := serve(map[string][]string{"red": {web, end}, "blue": {end}})
	defer stop()

	pods := func(namespace string) func(context.Context) iter.Seq[resource.Lazy[corev1.Pod]] {
		w := watcher.New(client.Namespaced(core.Pods, namespace), nil)
		return func(ctx context.Context) iter.Seq[resource.Lazy[corev1.Pod]] { return stream.Applied(w.Events(ctx)) }
	}
	for pod := range stream.Merge(context.Background(), pods("red"), pods("blue")) {
		fmt.Println(pod.Ref())
		break
	}
	// Output:
	// red/web
}
