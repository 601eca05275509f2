package wait_test

import (
	"fmt"

	"github.com/go-kube/kube/runtime/wait"
	batchv1 "k8s.io/api/batch/v1"
)

func ExampleJobComplete() {
	done, err := wait.JobComplete()(&batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailed, Status: "True", Reason: "BackoffLimitExceeded"},
	}}})
	fmt.Println(done, err)
	// Output: false it has failed: the job has failed: BackoffLimitExceeded
}

func ExampleOr() {
	gone := wait.Deleted[batchv1.Job]("")
	doneOrGone := wait.Or(gone, wait.JobComplete())
	fmt.Println(doneOrGone(nil))
	// Output: true <nil>
}
