// Package wait waits until an object is in a state: a Job done, a Deployment rolled out, an
// object gone.
//
// A whole program, which waits for a Job and says how it ended:
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"time"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/batch"
//		"github.com/go-kube/kube/runtime/wait"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
//		defer cancel()
//		job, err := wait.For(ctx, client.Namespaced(batch.Jobs, "default"), "migrate", wait.JobComplete())
//		if err != nil {
//			log.Fatal(err) // also when the Job has failed: that is not waited out
//		}
//		log.Printf("done after %s", job.Status.CompletionTime.Sub(job.Status.StartTime.Time))
//	}
//
// A [Condition] is a function of the object, so that any state can be waited for. It also says
// when what is waited for cannot come any more. Conditions are joined by [And], [Or] and [Not].
package wait
