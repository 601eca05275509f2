package wait

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const podsPath = "/api/v1/namespaces/ns/pods"

func inBubble(t *testing.T, f func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod])) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		f(t, srv, srv.Client().Namespaced(core.Pods, "ns"))
	})
}

func named(uid, version string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: types.UID(uid), ResourceVersion: version},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func TestForReturnsTheStateThatItWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		w := srv.Expect("GET " + podsPath + "?watch=true").Always().Watch()
		w.InitialEventsEnd("1") // none at first
		began := time.Now()
		for i, phase := range []corev1.PodPhase{"Pending", "Running"} {
			time.AfterFunc(time.Duration(i+1)*time.Second, func() { w.Send("MODIFIED", named("u", string(rune('2'+i)), phase)) })
		}
		got, err := For(t.Context(), pods, "a", PodRunning())
		if err != nil || got.Status.Phase != "Running" || time.Since(began) != 2*time.Second {
			t.Errorf("%v, %v after %s", got, err, time.Since(began))
		}
		for _, req := range srv.Requests() {
			if req.Query.Get("fieldSelector") != "metadata.name=a" {
				t.Errorf("watched with %v", req.Query)
			}
		}
	})
}

func TestForEndsWithAFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		w := srv.Expect("GET " + podsPath + "?watch=true").Always().Watch()
		w.Send("ADDED", named("u", "1", "Failed"))
		w.InitialEventsEnd("1")
		got, err := For(t.Context(), pods, "a", PodRunning())
		if !errors.Is(err, ErrFailed) || !strings.HasPrefix(err.Error(), "wait for pods ns/a: ") || got == nil {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestForSaysWhyItWaitedInVain(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		srv.Expect("GET "+podsPath).Always().Status(http.StatusForbidden, "Forbidden", "not yours", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := For(ctx, pods, "a", PodRunning())
		if !errors.Is(err, ErrEnded) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, kube.ErrForbidden) {
			t.Errorf("error %v, want the deadline and what the server said", err)
		}
	})
}

func TestForNeedsOneObject(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		for name, api := range map[string]kube.API[corev1.Pod]{"": pods, "a": srv.Client().All(core.Pods)} {
			if _, err := For(t.Context(), api, name, PodRunning()); err == nil || !strings.Contains(err.Error(), "Object needs") {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestDeleteWaitsUntilTheObjectIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		srv.Expect("DELETE "+podsPath+"/a").JSON(200, named("u", "2", "Running"))
		w := srv.Expect("GET " + podsPath + "?watch=true").Always().Watch()
		w.Send("ADDED", named("u", "2", "Running"))
		w.InitialEventsEnd("2")
		began := time.Now()
		time.AfterFunc(30*time.Second, func() {
			w.Send("DELETED", named("u", "3", "Running"))
			w.Send("ADDED", named("v", "4", "Running")) // another of the same name
		})
		if err := Delete(t.Context(), pods, "a", nil); err != nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// An empty uid would be that of no object, and the object taken for gone.
func TestDeleteFailsWhereTheServerNamesNoUID(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		srv.Expect("DELETE "+podsPath+"/a").JSON(200, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"})
		if err := Delete(t.Context(), pods, "a", nil); err == nil || !strings.Contains(err.Error(), "did not say which object") {
			t.Errorf("error %v", err)
		}
	})
}

func TestDeleteOfNothingFails(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *apitest.Server, pods kube.API[corev1.Pod]) {
		srv.Expect("DELETE "+podsPath+"/a").Status(404, "NotFound", "no", 0)
		if err := Delete(t.Context(), pods, "a", nil); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	})
}

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube/runtime/watcher",
		"github.com/go-kube/kube",
		"github.com/go-kube/kube/resource",
		"github.com/go-kube/kube/internal/wire",
		"github.com/go-kube/kube/internal/codec",
		"github.com/go-kube/kube/kubeconfig",
		"k8s.io/api/...",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/...",
		"sigs.k8s.io/yaml/...",
		"go.yaml.in/yaml/v3/...",
		"golang.org/x/sync/...",
	)
}
