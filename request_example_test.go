package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// answering returns a client of a server that knows these paths.
func answering(bodies map[string]string) *kube.Client {
	client, err := kube.NewClient(&kube.Config{
		Server: "https://cluster.example",
		Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}}
			body, ok := bodies[req.URL.RequestURI()]
			if !ok {
				resp.StatusCode, body = 404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"the server could not find the requested resource"}`
			}
			resp.Body = io.NopCloser(strings.NewReader(body))
			return resp, nil
		}),
	})
	if err != nil {
		panic(err)
	}
	return client
}

// What has no method of its own is asked for by its path.
func ExampleClient_Send() {
	client := answering(map[string]string{"/readyz?verbose=1": "[+]ping ok\nreadyz check passed\n"})
	body, err := client.Send(context.Background(), kube.Request{Path: "/readyz?verbose=1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(body))
	_, err = client.Send(context.Background(), kube.Request{Method: "DELETE", Path: kube.JoinPath("apis", "example.com", "v1")})
	fmt.Println(errors.Is(err, kube.ErrNotFound), err)
	// Output:
	// [+]ping ok
	// readyz check passed
	// true delete /apis/example.com/v1: the server could not find the requested resource
}

// Any call can be built without being sent.
func ExampleClient_Build() {
	client := answering(nil)
	req, err := client.Build(func(c *kube.Client) error {
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "red"}}
		_, err := c.Namespaced(core.ConfigMaps, "web").Apply(context.Background(), settings, "painter", nil)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(req.Body)
	fmt.Println(req.Method, req.URL)
	fmt.Println(string(body))
	// Output:
	// PATCH /api/v1/namespaces/web/configmaps/settings?fieldManager=painter&force=true
	// {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"color":"red"}}
}

// A program that sends no more than 5 requests a second, and 10 at once after a pause.
func ExampleRateLimit() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	defer srv.Close()
	limit, err := kube.RateLimit(5, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := kube.NewClient(&kube.Config{Server: srv.URL, Wrap: []func(http.RoundTripper) http.RoundTripper{limit}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	body, err := client.Send(context.Background(), kube.Request{Path: "/livez"})
	fmt.Println(string(body), err)
	// Output: ok <nil>
}

// What a server has is found by what people call it.
func ExampleClient_Discover() {
	client := answering(map[string]string{
		"/api":                 `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1":              `{"resources":[{"name":"pods","singularName":"pod","kind":"Pod","namespaced":true,"shortNames":["po"],"categories":["all"]}]}`,
		"/apis":                `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}]}]}`,
		"/apis/example.com/v1": `{"resources":[{"name":"webapps","singularName":"webapp","kind":"WebApp","namespaced":true,"shortNames":["wa"],"categories":["all"]}]}`,
	})
	served, err := client.Discover(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	kind, err := served.Lookup("wa")
	fmt.Println(kind.Descriptor().Kind, kind.Descriptor().APIVersion(), err)
	for _, k := range served.Category("all") {
		fmt.Println(k.Descriptor().Plural)
	}
	_, err = served.Kind(schema.GroupVersionKind{Group: "example.com", Kind: "Missing"})
	fmt.Println(err)
	// Output:
	// WebApp example.com/v1 <nil>
	// pods
	// webapps
	// kube: the server has no kind "Missing.example.com": not found
}

// A reference to an owner leads to the owner, if it is still the same.
func ExampleAPI_Resolve() {
	client := answering(map[string]string{
		"/api/v1/nodes/worker-1": `{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-1","uid":"7"}}`,
	})
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "worker-1", UID: "7"}
	node, err := client.All(core.Nodes).Resolve(context.Background(), kube.ToOwner(owner, "web"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(node.Name)
	owner.UID = "6"
	_, err = client.All(core.Nodes).Resolve(context.Background(), kube.ToOwner(owner, "web"))
	fmt.Println(errors.Is(err, kube.ErrNotFound))
	// Output:
	// worker-1
	// true
}
