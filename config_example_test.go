package kube_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

func ExampleConfigFromKubeconfig() {
	dir, err := os.MkdirTemp("", "kube")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config")
	os.WriteFile(path, []byte(`
clusters:
- {name: prod, cluster: {server: "https://prod.example.com:6443"}}
users:
- {name: admin, user: {token: very-secret}}
contexts:
- {name: prod-admin, context: {cluster: prod, user: admin}}
`), 0o600)

	cfg, err := kube.ConfigFromKubeconfig(path, &kube.KubeconfigOptions{Context: "prod-admin", Namespace: "web"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg)
	// Output: kube.Config{Server:https://prod.example.com:6443 Namespace:web BearerToken:[redacted]}
}

// A middleware that writes down what a program does at the API server, in the words that its
// RBAC rules need.
func ExampleRequestInfoFrom() {
	record := func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if info, ok := kube.RequestInfoFrom(req.Context()); ok {
				fmt.Printf("%s %s in %q\n", info.Verb, info.Resource, info.Namespace)
			}
			return next.RoundTrip(req)
		})
	}
	client, err := kube.NewClient(&kube.Config{
		Server: "https://prod.example.com",
		Wrap:   []func(http.RoundTripper) http.RoundTripper{record},
		Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"web"}}`
			return &http.Response{
				StatusCode: http.StatusOK,
				Header:     http.Header{"Content-Type": {"application/json"}},
				Body:       io.NopCloser(strings.NewReader(body)),
			}, nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cm, err := client.Namespaced(core.ConfigMaps, "web").Get(context.Background(), "settings")
	fmt.Println(cm.Name, err)
	// Output:
	// get configmaps in "web"
	// settings <nil>
}
