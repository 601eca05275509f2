package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

// server answers as an API server with two ConfigMaps does, and prints what is applied.
func server() *httptest.Server {
	mux := http.NewServeMux()
	answer := func(pattern string, code int, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			io.WriteString(w, body)
		})
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	answer("GET "+maps+"/settings", 200, `{"metadata":{"name":"settings","namespace":"default"},"data":{"color":"blue"}}`)
	answer("GET "+maps+"/missing", 404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,
		"message":"configmaps \"missing\" not found","details":{"name":"missing","kind":"configmaps"}}`)
	mux.HandleFunc("GET "+maps, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		page := `{"metadata":{"resourceVersion":"7","continue":"more"},"items":[{"metadata":{"name":"settings"}}]}`
		if r.FormValue("continue") != "" {
			page = `{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"words"}}]}`
		}
		io.WriteString(w, page)
	})
	mux.HandleFunc("PATCH "+maps+"/settings", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.RawQuery, string(body))
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	return httptest.NewServer(mux)
}

// connect returns a client of a server of its own.
func connect() (client *kube.Client, stop func()) {
	srv := server()
	client, err := kube.NewClient(&kube.Config{Server: srv.URL})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() {
		client.Close()
		srv.Close()
	}
}

func ExampleClient_Namespaced() {
	client, stop := connect()
	defer stop()
	settings, err := client.Namespaced(core.ConfigMaps, "default").Get(context.Background(), "settings")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settings.Data["color"])
	// Output: blue
}

// A list of any size, a page in memory at a time.
func ExampleAPI_Each() {
	client, stop := connect()
	defer stop()
	for cm, err := range client.Namespaced(core.ConfigMaps, "default").Each(context.Background(), &kube.ListOptions{Limit: 1}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cm.Name)
	}
	// Output:
	// settings
	// words
}

// Only what is set is sent, and owned.
func ExampleAPI_Apply() {
	client, stop := connect()
	defer stop()
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "red"}}
	_, err := client.Namespaced(core.ConfigMaps, "default").Apply(context.Background(), settings, "painter", nil)
	fmt.Println(err)
	// Output:
	// fieldManager=painter&force=true {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"color":"red"}}
	// <nil>
}

// An error of the server is known by its reason, and has its Status.
func ExampleError() {
	client, stop := connect()
	defer stop()
	maps := client.Namespaced(core.ConfigMaps, "default")
	_, err := maps.Get(context.Background(), "missing")
	fmt.Println(err)
	fmt.Println(errors.Is(err, kube.ErrNotFound), apierrors.IsNotFound(err), kube.CanRetry(err))

	_, found, err := maps.Lookup(context.Background(), "missing")
	fmt.Println(found, err)
	// Output:
	// get configmaps default/missing: configmaps "missing" not found
	// true true false
	// false <nil>
}
