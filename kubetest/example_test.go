package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// A server with objects from YAML, which can as well come from files.
func ExampleNewServer() {
	ctx := context.Background()
	srv, err := kubetest.NewServer(&kubetest.Options{YAML: `
apiVersion: v1
kind: ConfigMap
metadata: {name: greeting}
data: {text: hello}
`})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	maps := srv.Client().Namespaced(core.ConfigMaps, "default")
	greeting, err := maps.Get(ctx, "greeting")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(greeting.Data["text"])

	greeting.Name, greeting.ResourceVersion = "Not A Name", ""
	_, err = maps.Create(ctx, greeting, nil)
	fmt.Println(errors.Is(err, kube.ErrInvalid))
	// Output:
	// hello
	// true
}

// The first two reads are refused; the client tries again by itself.
func ExampleServer_Fault() {
	srv, err := kubetest.NewServer(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	busy := srv.Fault(
		kubetest.Match{Verbs: []string{"get"}, Resource: "namespaces", Times: 2},
		kubetest.Refuse(429, metav1.StatusReasonTooManyRequests, "slow down", 10*time.Millisecond),
	)
	ns, err := srv.Client().All(core.Namespaces).Get(context.Background(), "default")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ns.Name, busy.Count())
	for _, r := range srv.Requests() {
		fmt.Println(r.Verb, r.Resource, r.Name, r.Code)
	}
	// Output:
	// default 2
	// get namespaces default 429
	// get namespaces default 429
	// get namespaces default 200
}

// What is in a server can be written down, and loaded by another one.
func ExampleServer_Save() {
	srv, err := kubetest.NewServer(&kubetest.Options{YAML: `
apiVersion: v1
kind: ConfigMap
metadata:
  name: greeting
  uid: 8a2c1b4e-7d7c-4a52-9d0e-2f2f3a3b4c5d
  creationTimestamp: "2030-01-01T00:00:00Z"
  managedFields: []
data: {text: hello}
`})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	if err := srv.Save(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ---
	// apiVersion: v1
	// data:
	//   text: hello
	// kind: ConfigMap
	// metadata:
	//   creationTimestamp: "2030-01-01T00:00:00Z"
	//   name: greeting
	//   namespace: default
	//   uid: 8a2c1b4e-7d7c-4a52-9d0e-2f2f3a3b4c5d
}
