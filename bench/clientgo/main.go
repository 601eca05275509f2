// Command clientgo is the client-go peer: a shared informer whose handler is told of every
// change. It has the best settings that client-go offers: protobuf where the kind has it, no
// limit of requests, managedFields dropped by a transform.
package main

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/go-kube/kube/bench/internal/measure"
)

func main() {
	args := measure.Parse()
	meter := measure.NewMeter(args)
	config := &rest.Config{Host: args.Server, QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: args.MediaType(), AcceptContentTypes: args.MediaType(),
	}}
	switch args.Scenario {
	case "cache", "relist":
		runCache(args, meter, newInformer(args, config))
	case "read":
		runRead(args, meter, newInformer(args, config))
	case "unary":
		runUnary(args, meter, newClientset(config))
	default:
		panic("client-go has no scenario " + args.Scenario)
	}
}

func newClientset(config *rest.Config) *kubernetes.Clientset {
	clientset, err := kubernetes.NewForConfig(config)
	measure.Check(err)
	return clientset
}
