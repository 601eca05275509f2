package reflector_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// pods is an API server that knows two pods and then deletes one of them.
func pods() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"type":"ADDED","object":{"metadata":{"name":"web-0","namespace":"default","uid":"a","resourceVersion":"1"},"spec":{"nodeName":"n1"}}}`)
		fmt.Fprintln(w, `{"type":"ADDED","object":{"metadata":{"name":"web-1","namespace":"default","uid":"b","resourceVersion":"2"},"spec":{"nodeName":"n2"}}}`)
		fmt.Fprintln(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
}

var byNode = reflector.NewIndex(func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })

func Example() {
	server := pods()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	r := reflector.New(client.All(core.Pods), nil)
	r.Index(byNode)
	go r.Run(ctx)
	store := r.Store()
	if err := store.WaitReady(ctx); err != nil {
		fmt.Println(err)
		return
	}

	pod, err := store.Get(resource.Ref[corev1.Pod]{Namespace: "default", Name: "web-0"})
	fmt.Println(pod.Name, "is on", pod.Spec.NodeName, err)
	for pod := range byNode.Lookup(store, "n2") {
		fmt.Println(pod.Name(), "is on n2")
	}
	_, err = store.Get(resource.Ref[corev1.Pod]{Namespace: "default", Name: "web-7"})
	fmt.Println(err)
	// Output:
	// web-0 is on n1 <nil>
	// web-1 is on n2
	// pods default/web-7: not in the store
}

func ExampleReflector_Changes() {
	server := pods()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	r := reflector.New(client.All(core.Pods), nil)
	go r.Run(ctx)
	seen := 0
	for change := range r.Changes(ctx) {
		fmt.Println("initial:", change.Initial, "deleted:", change.Deleted)
		if seen++; seen == 2 {
			break
		}
	}
	// Output:
	// initial: true deleted: false
	// initial: true deleted: false
}

func ExampleReflector_Modify() {
	server := pods()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	r := reflector.New(client.All(core.Pods), nil)
	r.Modify(func(p *corev1.Pod) { p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName} }) // all that this program needs
	go r.Run(ctx)
	if err := r.Store().WaitReady(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Store().Len(), "pods")
	// Output:
	// 2 pods
}

// secrets is an API server with a secret in each namespace.
func secrets() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/secrets", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"name":"token","namespace":%q,"uid":"a","resourceVersion":"1","labels":{"app":"web"}}}}`+"\n", r.PathValue("namespace"))
		fmt.Fprintln(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	return httptest.NewServer(mux)
}

// A store of some namespaces, which change while it runs.
func ExampleNamespaceSet() {
	server := secrets()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	tenants := reflector.NewNamespaceSet("red", "blue")
	r := reflector.New(client.All(core.Secrets), &reflector.Options{Namespaces: tenants})
	go r.Run(ctx)
	store := r.Store()
	fmt.Println(store.WaitReady(ctx), store.Len())

	if err := tenants.Set("blue", "green"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(store.WaitReadyIn(ctx, "green"), store.Len())
	_, err = store.Get(resource.Ref[corev1.Secret]{Namespace: "red", Name: "token"})
	fmt.Println(err)
	// Output:
	// <nil> 2
	// <nil> 2
	// secrets red/token: not in the store, which does not keep its namespace
}

// Reads by labels come from an index, where there is one of a label that the selector names.
func ExampleStore_Select() {
	server := secrets()
	defer server.Close()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	r := reflector.New(client.Namespaced(core.Secrets, "blue"), nil)
	r.Index(reflector.ByLabel[corev1.Secret]("app"))
	go r.Run(ctx)
	fmt.Println(r.Store().WaitReady(ctx))

	selector, err := resource.ParseSelector("app in (web,db)")
	if err != nil {
		fmt.Println(err)
		return
	}
	for secret := range r.Store().Select(selector) {
		fmt.Println(secret.Ref())
	}
	// Output:
	// <nil>
	// blue/token
}
