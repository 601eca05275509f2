package watcher_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

// pods is an API server that knows two pods and deletes one of them.
func pods() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"type":"ADDED","object":{"metadata":{"name":"web-0","namespace":"default","uid":"a","resourceVersion":"1"}}}`)
		fmt.Fprintln(w, `{"type":"ADDED","object":{"metadata":{"name":"web-1","namespace":"default","uid":"b","resourceVersion":"2"}}}`)
		fmt.Fprintln(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
		fmt.Fprintln(w, `{"type":"DELETED","object":{"metadata":{"name":"web-1","namespace":"default","uid":"b","resourceVersion":"3"}}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
}

func Example() {
	server := pods()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}

	w := watcher.New(client.Namespaced(core.Pods, "default"), nil)
	for event := range w.Events(context.Background()) {
		switch event.Type {
		case watcher.Init, watcher.InitDone:
			fmt.Println(event.Type)
		case watcher.InitApply, watcher.Apply:
			fmt.Println(event.Type, event.Object.Ref())
		case watcher.Delete:
			fmt.Println(event.Type, event.Object.Ref())
			return // breaking the loop ends the watch
		}
	}
	// Output:
	// Init
	// InitApply default/web-0
	// InitApply default/web-1
	// InitDone
	// Delete default/web-1
}

func ExampleObject() {
	server := pods()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}

	for pod, present := range watcher.Object(context.Background(), client.Namespaced(core.Pods, "default"), "web-1", nil) {
		if !present {
			fmt.Println("gone")
			return
		}
		fmt.Println(pod.Ref(), "is there")
	}
	// Output:
	// default/web-1 is there
	// gone
}
