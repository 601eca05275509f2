// Command ours does with kube what the peers do with their libraries, with the settings that
// a user gets who sets nothing.
package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/bench/internal/webapp"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

var webApps = resource.DefineNamespaced[webapp.WebApp](resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})

// jsonPods and jsonSecrets are what built-in kinds would be if they had no protobuf.
var (
	jsonPods    = resource.DefineNamespaced[corev1.Pod](resource.Info{Version: "v1", Kind: "Pod"})
	jsonSecrets = resource.DefineNamespaced[corev1.Secret](resource.Info{Version: "v1", Kind: "Secret"})
)

func main() {
	args := measure.Parse()
	meter := measure.NewMeter(args)
	client, err := kube.NewClient(&kube.Config{Server: args.Server})
	measure.Check(err)
	if args.Scenario == "unary" {
		runUnary(args, meter, client)
		return
	}
	switch args.Kind + " " + args.Format {
	case "pods protobuf":
		run(args, meter, client.All(core.Pods))
	case "pods json":
		run(args, meter, client.All(jsonPods))
	case "secrets protobuf":
		run(args, meter, client.All(core.Secrets))
	case "secrets json":
		run(args, meter, client.All(jsonSecrets))
	case "webapps json":
		run(args, meter, client.All(webApps))
	default:
		panic("no kind " + args.Kind + " as " + args.Format)
	}
}

// run runs a scenario with objects of kind K.
func run[K any, P resource.ObjectPtr[K]](args measure.Args, meter *measure.Meter, api kube.API[K]) {
	switch args.Scenario {
	case "cache", "relist":
		runCache(args, meter, api)
	case "reconcile":
		runReconcile[K, P](args, meter, api)
	case "read":
		runRead[K, P](args, meter, api)
	default:
		panic("no scenario " + args.Scenario)
	}
}
