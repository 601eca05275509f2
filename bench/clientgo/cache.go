package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/go-kube/kube/bench/internal/measure"
)

// newInformer returns the informer of a kind. There is no typed one of custom resources.
func newInformer(args measure.Args, config *rest.Config) cache.SharedIndexInformer {
	var informer cache.SharedIndexInformer
	switch args.Kind {
	case "pods":
		informer = informers.NewSharedInformerFactory(newClientset(config), 0).Core().V1().Pods().Informer()
	case "secrets":
		informer = informers.NewSharedInformerFactory(newClientset(config), 0).Core().V1().Secrets().Informer()
	case "webapps":
		client, err := dynamic.NewForConfig(config)
		measure.Check(err)
		resource := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "webapps"}
		informer = dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	default:
		panic("no kind " + args.Kind)
	}
	measure.Check(informer.SetTransform(func(obj any) (any, error) {
		if m, err := meta.Accessor(obj); err == nil {
			m.SetManagedFields(nil)
		}
		return obj, nil
	}))
	return informer
}

// follow runs informer, and returns when its handler was told of all objects. done is closed
// when the marked object has come.
func follow(args measure.Args, informer cache.SharedIndexInformer) (events *int64, done <-chan struct{}) {
	events = new(int64)
	known := 0
	all, marked := make(chan struct{}), make(chan struct{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			if known++; known == args.Objects {
				close(all)
			}
		},
		UpdateFunc: func(_, obj any) {
			*events++
			if obj.(metav1.Object).GetLabels()[measure.DoneLabel] != "" {
				close(marked)
			}
		},
	})
	measure.Check(err)
	go informer.RunWithContext(context.Background())
	<-all
	return events, marked
}

func runCache(args measure.Args, meter *measure.Meter, informer cache.SharedIndexInformer) {
	events, done := follow(args, informer)
	meter.End("sync", int64(args.Objects), nil)
	if args.Scenario == "relist" {
		args.Expire()
		<-done
		meter.End("relist", int64(args.Objects), nil)
	} else {
		args.StartEvents()
		<-done
		meter.End("events", *events, nil)
	}
	_ = len(informer.GetStore().ListKeys()) // the store is in memory to the end
}
