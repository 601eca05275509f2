package wait

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The tests of this file hold mistakes that kube-rs made in waiting, and that must not be made
// here. The numbers are those of the list that they were collected in;
// runtime/testdata/lessons.txt has the whole list.

// 13: where the answer to a delete named no uid, the object was taken for gone at once.
func TestRegression13DeleteIsNotDoneBeforeTheObjectIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		answers := map[string]any{
			"the object": named("u", "2", "Running"),
			"a status with a uid": &metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success", Details: &metav1.StatusDetails{Name: "a", UID: "u"},
			},
		}
		for name, answer := range answers {
			srv.Expect("DELETE "+podsPath+"/a").JSON(http.StatusOK, answer)
			w := srv.Expect("GET " + podsPath + "?watch=true").Watch()
			w.Send("ADDED", named("u", "2", "Running"))
			w.InitialEventsEnd("2")
			began := time.Now()
			time.AfterFunc(time.Minute, func() { w.Send("DELETED", named("u", "3", "Running")) })
			if err := Delete(t.Context(), pods, "a", nil); err != nil || time.Since(began) != time.Minute {
				t.Errorf("answer with %s: %v after %s, want to wait a minute", name, err, time.Since(began))
			}
		}
		srv.Expect("DELETE "+podsPath+"/a").JSON(http.StatusOK, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"})
		if err := Delete(t.Context(), pods, "a", nil); err == nil {
			t.Error("answer without a uid: no error, and nobody knows whether the object is gone")
		}
	})
}

// 14: a Job that has failed was waited for without end, a Deployment was taken for complete by a
// status of before its last change, and a load balancer without any address for provisioned.
func TestRegression14ConditionsSeeFailuresAndOldStates(t *testing.T) {
	if done, err := JobComplete()(job("Failed", "True")); done || !errors.Is(err, ErrFailed) {
		t.Errorf("a failed Job: %v, %v; want a failure", done, err)
	}
	if done, err := DeploymentComplete()(deployment(3, 2, "True", "NewReplicaSetAvailable")); done || err != nil {
		t.Errorf("a Deployment with a new spec: %v, %v; want to wait", done, err)
	}
	if done, err := ServiceProvisioned()(service(balanced)); done || err != nil {
		t.Errorf("a Service without an address: %v, %v; want to wait", done, err)
	}
	if done, err := IngressProvisioned()(ingress()); done || err != nil {
		t.Errorf("an Ingress without an address: %v, %v; want to wait", done, err)
	}
}

// 14, 3: waiting ended with the first failure of the server.
func TestRegression14WaitingOutlivesFailuresOfTheServer(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		failing := srv.Expect("GET " + podsPath).Always()
		failing.Status(http.StatusInternalServerError, "InternalError", "etcd is away", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		time.AfterFunc(10*time.Minute, func() {
			failing.Times(0)
			srv.Expect("GET "+podsPath+"?watch=").Always().List("1", "", named("u", "1", "Running"))
			w := srv.Expect("GET " + podsPath + "?watch=true&sendInitialEvents=true").Always().Watch()
			w.Send("ADDED", named("u", "1", "Running"))
			w.InitialEventsEnd("2")
			srv.Expect("GET " + podsPath + "?watch=true&sendInitialEvents=").Always().Watch()
		})
		if got, err := For(ctx, pods, "a", PodRunning()); err != nil || got.Status.Phase != "Running" {
			t.Errorf("%v, %v; want the pod", got, err)
		}
	})
}
