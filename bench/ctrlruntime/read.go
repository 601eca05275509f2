package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-kube/kube/bench/internal/measure"
)

// runRead reads pods from the manager's cache. It hands out its own objects here; copies are
// made in addition, as the cache would by default.
func runRead(args measure.Args, meter *measure.Meter, manager ctrl.Manager) {
	ctx := context.Background()
	_, err := manager.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	measure.Check(err)
	start(manager)
	manager.GetCache().WaitForCacheSync(ctx)
	reader := manager.GetClient()
	list := func() []corev1.Pod {
		var pods corev1.PodList
		measure.Check(reader.List(ctx, &pods))
		if len(pods.Items) != args.Objects {
			panic("a pod is missing")
		}
		return pods.Items
	}
	var keys []client.ObjectKey
	for _, pod := range list() {
		keys = append(keys, client.ObjectKeyFromObject(&pod))
	}
	rounds := max(1, args.Events/args.Objects)
	get := func(i int) *corev1.Pod {
		var pod corev1.Pod
		measure.Check(reader.Get(ctx, keys[i*7919%len(keys)], &pod))
		return &pod
	}
	meter.End("sync", int64(args.Objects), nil)
	for i := range args.Events {
		get(i).DeepCopyObject()
	}
	meter.End("get, a copy", int64(args.Events), nil)
	for i := range args.Events {
		get(i)
	}
	meter.End("get, shared", int64(args.Events), nil)
	for range rounds {
		for _, pod := range list() {
			pod.DeepCopyObject()
		}
	}
	meter.End("list, copies", int64(rounds*args.Objects), nil)
	for range rounds {
		for _, pod := range list() {
			if _, ok := pod.GetLabels()["app"]; !ok {
				panic("a pod without a label")
			}
		}
	}
	meter.End("list, shared", int64(rounds*args.Objects), nil)
}
