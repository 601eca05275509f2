package controllerruntime_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bridge "github.com/go-kube/kube/bridge/controllerruntime"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/runtime/reflector"
)

func ExampleReader() {
	srv, err := kubetest.NewServer(&kubetest.Options{YAML: `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {color: blue}
`})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	maps := reflector.New(srv.Client().All(core.ConfigMaps), nil)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go maps.Run(ctx)

	reader := bridge.NewReader(nil)
	reader.Add(maps, nil)
	var old client.Reader = reader // what code written with controller-runtime takes
	var list corev1.ConfigMapList
	if err := old.List(ctx, &list, client.MatchingLabels{"app": "web"}); err != nil {
		log.Fatal(err)
	}
	for _, cm := range list.Items {
		fmt.Println(cm.Namespace, cm.Name, cm.Data["color"])
	}
	// Output: default settings blue
}
