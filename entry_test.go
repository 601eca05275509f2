package kube_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// turns answers requests in order: each turn has what is expected and the answer.
type turns struct {
	t    *testing.T
	mu   sync.Mutex
	left []turn
}

type turn struct {
	want   string // method, path and query
	body   string // part of the request's
	code   int
	answer string
}

func (s *turns) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	got := req.Method + " " + req.URL.RequestURI()
	if len(s.left) == 0 {
		s.t.Errorf("unexpected %s", got)
		return nil, errors.New("unexpected request")
	}
	next := s.left[0]
	s.left = s.left[1:]
	if !strings.HasPrefix(got, next.want) || !bytes.Contains(body, []byte(next.body)) {
		s.t.Errorf("request %s %s, want %s with %s", got, body, next.want, next.body)
	}
	return &http.Response{StatusCode: next.code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(next.answer)), Request: req}, nil
}

func scripted(t *testing.T, list ...turn) *kube.Client {
	t.Helper()
	s := &turns{t: t, left: list}
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: s, DisableRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, turn := range s.left {
			t.Errorf("not asked: %s", turn.want)
		}
	})
	return client
}

const (
	hackPath = "/apis/kube.rs/v1/namespaces/ns/hacks"
	notFound = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"a"}}`
)

func hackJSON(version string, num int, more string) string {
	return `{"apiVersion":"kube.rs/v1","kind":"Hack","metadata":{"name":"a","namespace":"ns","uid":"u1","resourceVersion":"` + version + `"` + more + `},"spec":{"num":` + string(rune('0'+num)) + `}}`
}

func TestEntryInserts(t *testing.T) {
	client := scripted(t,
		turn{"GET " + hackPath + "/a", "", 404, notFound},
		turn{"POST " + hackPath + "?dryRun=All", `"num":1`, 201, hackJSON("", 1, "")},
		turn{"POST " + hackPath, `"name":"a","namespace":"ns"`, 201, hackJSON("5", 1, "")},
		turn{"PUT " + hackPath + "/a?fieldManager=me", `"resourceVersion":"5"`, 200, hackJSON("6", 2, "")},
	)
	e, err := client.Namespaced(hacks, "ns").Entry(t.Context(), "a")
	if err != nil || e.Object() != nil || e.Stored() {
		t.Fatalf("%v, %v", e, err)
	}
	if err := e.Modify(func(*hack) { t.Error("modified what is not there") }).Commit(t.Context(), nil); err != nil {
		t.Error(err)
	}
	e.OrInsert(func() *hack { h := &hack{}; h.Spec.Num = 1; return h })
	e.OrInsert(func() *hack { t.Error("inserted twice"); return nil })
	if err := e.Commit(t.Context(), &kube.CommitOptions{DryRun: true}); err != nil || e.Stored() || e.Object().UID != "" {
		t.Errorf("after the dry run: %v, %v", e.Object(), err)
	}
	for range 2 { // the second one has nothing to do
		if err := e.Commit(t.Context(), nil); err != nil || !e.Stored() || e.Object().ResourceVersion != "5" {
			t.Errorf("%v, %v", e.Object(), err)
		}
	}
	e.Modify(func(h *hack) { h.Spec.Num = 1 }) // as it was
	if err := e.Commit(t.Context(), nil); err != nil {
		t.Error(err)
	}
	e.Modify(func(h *hack) { h.Spec.Num = 2 })
	if err := e.Commit(t.Context(), &kube.CommitOptions{FieldManager: "me"}); err != nil || e.Object().ResourceVersion != "6" {
		t.Errorf("%v, %v", e.Object(), err)
	}
}

func TestEntryErrors(t *testing.T) {
	for want, object := range map[string]metav1.ObjectMeta{
		`the object is called "b", and the entry is of "a"`: {Name: "b"},
		`names namespace "other"`:                           {Namespace: "other"},
		`has generateName "a-"`:                             {GenerateName: "a-"},
	} {
		client := scripted(t, turn{"GET " + hackPath + "/a", "", 404, notFound})
		e, err := client.Namespaced(hacks, "ns").Entry(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		err = e.OrInsert(func() *hack { return &hack{ObjectMeta: object} }).Commit(t.Context(), nil)
		var named *kube.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &named) || named.Name != "a" {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
	client := scripted(t, turn{"GET " + hackPath + "/a", "", 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`})
	if _, err := client.Namespaced(hacks, "ns").Entry(t.Context(), "a"); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("error = %v", err)
	}
}

func metaJSON(version, uid, more string) string {
	return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"ns","uid":"` + uid + `","resourceVersion":"` + version + `"` + more + `}}`
}

func refusedJSON(reason string, code int) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func TestDeleteAndWait(t *testing.T) {
	const watch = "GET " + hackPath + "?allowWatchBookmarks=true&fieldSelector=metadata.name%3Da&resourceVersion="
	marked := `,"deletionTimestamp":"2030-01-01T00:00:00Z"`
	del := turn{"DELETE " + hackPath + "/a", "", 200, hackJSON("5", 1, marked)}
	gone := turn{"GET " + hackPath + "/a", "", 404, notFound}
	for _, test := range []struct {
		name  string
		turns []turn
		took  time.Duration
	}{
		{"at once", []turn{{"DELETE " + hackPath + "/a", "", 200, `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"a","uid":"u1"}}`}, gone}, 0},
		{"another one in its place", []turn{del, {"GET " + hackPath + "/a", "", 200, metaJSON("9", "u2", "")}}, 0},
		{"watched", []turn{del, {"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)},
			{watch + "5", "", 200, `{"type":"MODIFIED","object":` + metaJSON("6", "u1", marked) + "}\n" + `{"type":"DELETED","object":` + metaJSON("7", "u1", marked) + "}\n"}}, 0},
		{"watch that ends, expires, fails", []turn{del, {"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)}, {watch + "5", "", 200, ""},
			{"GET " + hackPath + "/a", "", 200, metaJSON("6", "u1", marked)}, {watch + "6", "", 410, ""},
			{"GET " + hackPath + "/a", "", 500, ""}, gone}, 3500 * time.Millisecond},
		{"watch that is not allowed", []turn{del, {"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)}, {watch + "5", "", 403, refusedJSON("Forbidden", 403)},
			{"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)}, {watch + "5", "", 403, refusedJSON("Forbidden", 403)}, gone}, 1500 * time.Millisecond},
		{"watch that is not known", []turn{del, {"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)}, {watch + "5", "", 405, refusedJSON("MethodNotAllowed", 405)}, gone}, 500 * time.Millisecond},
		{"no uid", []turn{{"DELETE " + hackPath + "/a", "", 200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
			{"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)}, {"GET " + hackPath + "/a", "", 200, metaJSON("5", "u1", marked)},
			{watch + "5", "", 200, `{"type":"DELETED","object":` + metaJSON("7", "u1", marked) + "}\n"}}, 0},
		{"no uid, another one", []turn{{"DELETE " + hackPath + "/a", "", 200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
			{"GET " + hackPath + "/a", "", 200, metaJSON("5", "u2", "")}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, start := scripted(t, test.turns...), time.Now()
				if err := client.Namespaced(hacks, "ns").DeleteAndWait(t.Context(), "a", nil); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestDeleteAndWaitErrors(t *testing.T) {
	client := scripted(t, turn{"DELETE " + hackPath + "/a", "", 404, notFound})
	if err := client.Namespaced(hacks, "ns").DeleteAndWait(t.Context(), "a", nil); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("error = %v", err)
	}
	client = scripted(t, turn{"DELETE " + hackPath + "/a", `"dryRun":["All"]`, 200, hackJSON("5", 1, "")})
	if err := client.Namespaced(hacks, "ns").DeleteAndWait(t.Context(), "a", &kube.DeleteOptions{DryRun: true}); err != nil {
		t.Errorf("error = %v", err)
	}
	client = scripted(t, turn{"GET " + hackPath + "/a", "", 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`})
	if err := client.Namespaced(hacks, "ns").WaitDeleted(t.Context(), "a", "u1"); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("error = %v", err)
	}
}

func TestRestart(t *testing.T) {
	client := scripted(t, turn{"PATCH /apis/apps/v1/namespaces/ns/deployments/web", `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"`, 200,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`})
	if _, err := client.Namespaced(apps.Deployments, "ns").Restart(t.Context(), "web"); err != nil {
		t.Error(err)
	}
	if _, err := client.Namespaced(apps.ReplicaSets, "ns").Restart(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), "a ReplicaSet cannot be restarted") {
		t.Errorf("error = %v", err)
	}
}

func TestResolve(t *testing.T) {
	node := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u1"}}`
	client := scripted(t,
		turn{"GET " + hackPath + "/a", "", 200, hackJSON("5", 1, "")},
		turn{"GET " + hackPath + "/a", "", 200, hackJSON("5", 1, "")},
		turn{"GET /api/v1/nodes/n", "", 200, node},
		turn{"GET /apis/kube.rs/v1", "", 200, `{"resources":[{"name":"hacks","kind":"Hack","namespaced":true}]}`},
		turn{"GET " + hackPath + "/a", "", 200, hackJSON("5", 1, "")},
	)
	all := client.All(hacks)
	owner := metav1.OwnerReference{APIVersion: "kube.rs/v1alpha1", Kind: "Hack", Name: "a", UID: "u1"}
	if h, err := all.Resolve(t.Context(), kube.ToOwner(owner, "ns")); err != nil || h.Spec.Num != 1 {
		t.Errorf("%v, %v", h, err)
	}
	owner.UID = "u0"
	if _, err := all.Resolve(t.Context(), kube.ToOwner(owner, "ns")); !errors.Is(err, kube.ErrNotFound) || !strings.Contains(err.Error(), "u0 is gone") {
		t.Errorf("error = %v", err)
	}
	if n, err := client.All(core.Nodes).Resolve(t.Context(), kube.ToOwner(metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u1"}, "ns")); err != nil || n.Name != "n" {
		t.Errorf("a cluster-scoped owner: %v", err)
	}
	if _, err := client.All(core.Nodes).Resolve(t.Context(), kube.Reference{APIVersion: "v1", Kind: "Pod", Name: "n"}); err == nil || !strings.Contains(err.Error(), "the reference is to a Pod of v1") {
		t.Errorf("error = %v", err)
	}
	u, err := client.ResolveDynamic(t.Context(), kube.Reference{APIVersion: "kube.rs/v1", Kind: "Hack", Namespace: "ns", Name: "a"})
	if err != nil || u.GetUID() != "u1" {
		t.Errorf("%v, %v", u, err)
	}
}
