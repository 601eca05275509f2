package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebAppSpec is what the user asks for.
type WebAppSpec struct {
	Image string `json:"image"`
}

// WebApp is the kind of the examples.
type WebApp = resource.Object[WebAppSpec, struct{}]

// WebApps describes it.
var WebApps = resource.DefineNamespaced[WebApp](resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})

// serve starts an API server that has the WebApps hello and a deleted bye, and a Deployment,
// and accepts every patch.
func serve() (*kube.Client, func()) {
	const hello = `{"metadata":{"name":"hello","namespace":"default","uid":"a","resourceVersion":"1"},"spec":{"image":"nginx"}}`
	const bye = `{"metadata":{"name":"bye","namespace":"default","uid":"b","resourceVersion":"2","finalizers":["example.com/dns"],"deletionTimestamp":"2030-01-01T00:00:00Z"},"spec":{"image":"nginx"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPatch {
			fmt.Fprint(w, hello)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/webapps") {
			fmt.Fprintln(w, `{"type":"ADDED","object":`+hello+`}`)
			fmt.Fprintln(w, `{"type":"ADDED","object":`+bye+`}`)
		}
		fmt.Fprintln(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); server.CloseClientConnections(); server.Close() }
}

func Example() {
	client, closeServer := serve()
	defer closeServer()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	reconcile := func(ctx context.Context, app *WebApp) (controller.Action, error) {
		if app.Name == "hello" {
			fmt.Println(app.Name, "runs", app.Spec.Image, "because:", controller.ReasonFrom(ctx))
			stop() // the example has seen enough
		}
		return controller.Await(), nil
	}
	ctl := controller.New(client.All(WebApps), reconcile, nil)
	ctl.Owns(client.All(apps.Deployments))
	fmt.Println("Run returned", ctl.Run(ctx))
	// Output:
	// hello runs nginx because: object found
	// Run returned <nil>
}

func ExampleFinalize() {
	client, closeServer := serve()
	defer closeServer()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	apply := func(context.Context, *WebApp) (controller.Action, error) { return controller.Await(), nil }
	cleanup := func(_ context.Context, app *WebApp) (controller.Action, error) {
		fmt.Println("removing the DNS entry of", app.Name)
		stop()
		return controller.Await(), nil // done: the finalizer goes, and the object with it
	}
	webapps := client.All(WebApps)
	ctl := controller.New(webapps, controller.Finalize(webapps, "example.com/dns", apply, cleanup), nil)
	ctl.Filter(controller.Or(controller.Generation(), controller.Finalizers()))
	fmt.Println("Run returned", ctl.Run(ctx))
	// Output:
	// removing the DNS entry of bye
	// Run returned <nil>
}

func ExampleController_OnError() {
	client, closeServer := serve()
	defer closeServer()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	var errImage = errors.New("no such image")
	reconcile := func(_ context.Context, app *WebApp) (controller.Action, error) {
		if app.Name != "hello" {
			return controller.Await(), nil
		}
		return controller.Await(), errImage
	}
	ctl := controller.New(client.All(WebApps), reconcile, nil)
	ctl.OnError(func(_ context.Context, app *WebApp, err error, attempt int) controller.Action {
		fmt.Printf("%s, attempt %d: %v\n", app.Name, attempt, err)
		if attempt == 2 {
			stop()
		}
		return controller.Retry() // with the backoff, as without this hook
	})
	fmt.Println("Run returned", ctl.Run(ctx))
	// Output:
	// hello, attempt 1: no such image
	// hello, attempt 2: no such image
	// Run returned <nil>
}

// A WebApp that reads a Secret is reconciled when the Secret changes. Of the Secrets no more
// than the metadata is watched.
func ExampleController_Watches() {
	client, closeServer := serve()
	defer closeServer()

	reconcile := func(context.Context, *WebApp) (controller.Action, error) { return controller.Await(), nil }
	ctl := controller.New(client.All(WebApps), reconcile, nil)
	ctl.Watches(client.All(core.Secrets.Metadata()), func(secret *resource.Metadata[corev1.Secret]) []resource.Ref[WebApp] {
		app, ok := secret.Labels["example.com/webapp"]
		if !ok {
			return nil
		}
		return []resource.Ref[WebApp]{{Namespace: secret.Namespace, Name: app}}
	}).Filter(controller.ResourceVersion())
	for _, s := range ctl.State() {
		fmt.Println(s.Resource, s.Phase)
	}
	// Output:
	// webapps.example.com Idle
	// secrets Idle
}

func ExampleTerminal() {
	check := func(app *WebApp) error {
		if app.Spec.Image == "" {
			return controller.Terminal(errors.New("spec.image is empty")) // trying again does not fill it in
		}
		return nil
	}
	err := check(&WebApp{})
	fmt.Println(err, controller.IsTerminal(err))
	// Output:
	// spec.image is empty true
}

// A controller whose caches are full when it becomes the leader, and which applies only what is
// not true yet.
func ExampleNewApplier() {
	client, err := kube.NewClient(&kube.Config{Server: "http://127.0.0.1:1"}) // nobody answers
	if err != nil {
		panic(err)
	}
	defer client.Close()
	maps := client.All(core.ConfigMaps)
	var applier *controller.Applier[corev1.ConfigMap]
	ctl := controller.New(maps, func(ctx context.Context, m *corev1.ConfigMap) (controller.Action, error) {
		_, err := applier.Apply(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, Labels: map[string]string{"seen": "yes"}},
		})
		return controller.Await(), err
	}, nil)
	applier = controller.NewApplier(maps, ctl.Store(), "example", nil)
	ctl.Hold(func(ctx context.Context) (context.Context, error) {
		<-ctx.Done() // in place of an election
		return ctx, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(ctl.Run(ctx), len(ctl.Queue()), applier.Stats().Sent)
	// Output: <nil> 0 0
}

// The queue and the workers of a controller, for keys that no watch tells of.
func ExampleRunner() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	tries := map[string]int{}
	runner := controller.NewRunner(func(ctx context.Context, account string) (controller.Action, error) {
		tries[account]++
		fmt.Println("syncing", account, "because:", controller.ReasonFrom(ctx))
		if tries[account] == 1 {
			return controller.After(10 * time.Millisecond), nil // look again
		}
		stop() // the example has seen enough
		return controller.Await(), nil
	}, &controller.RunnerOptions{Name: "accounts"})
	runner.Trigger("alice")
	runner.Trigger("alice") // the same run
	runner.Schedule("bob", time.Hour)
	fmt.Println("Run returned", runner.Run(ctx))
	for _, item := range runner.Queue() {
		fmt.Println(item.Key, "has not run")
	}
	// Output:
	// syncing alice because: custom
	// syncing alice because: reconciler requested
	// Run returned <nil>
	// bob has not run
}
