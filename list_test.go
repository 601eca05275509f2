package kube_test

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	if err := errors.Join(x.Canonicalize(), y.Canonicalize()); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// pages answers list requests from scripted pages, by continue token.
func pages(t *testing.T, byToken map[string]string) (*kube.Client, *[]string) {
	t.Helper()
	var asked []string
	client, err := kube.NewClient(&kube.Config{Server: "https://c", DisableRetry: true, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		q := r.URL.Query()
		asked = append(asked, q.Get("limit")+" "+q.Get("continue"))
		body, code := byToken[q.Get("continue")], 200
		if strings.Contains(body, `"Failure"`) {
			code = 410
		}
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return client, &asked
}

func podPage(next string, names ...string) string {
	items := make([]string, len(names))
	for i, n := range names {
		items[i] = fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns"}}`, n)
	}
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

func TestEachGoesThroughPages(t *testing.T) {
	client, asked := pages(t, map[string]string{"": podPage("one", "a", "b"), "one": podPage("two"), "two": podPage("", "c")})
	var got []string
	for pod, err := range client.All(core.Pods).Each(t.Context(), &kube.ListOptions{Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, pod.Name)
		if pod.Kind != "Pod" || pod.APIVersion != "v1" {
			t.Errorf("%s is a %s %s", pod.Name, pod.APIVersion, pod.Kind)
		}
	}
	if want := []string{"a", "b", "c"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []string{"2 ", "2 one", "2 two"}; !cmp.Equal(*asked, want) {
		t.Errorf("asked for %q, want %q", *asked, want)
	}
}

func TestEachStopsWhenTheLoopDoes(t *testing.T) {
	client, asked := pages(t, map[string]string{"": podPage("one", "a", "b"), "one": podPage("", "c")})
	for range client.All(core.Pods).Each(t.Context(), nil) {
		break
	}
	if want := []string{"500 "}; !cmp.Equal(*asked, want) {
		t.Errorf("asked for %q, want %q", *asked, want)
	}
}

func TestEachEndsWithTheErrorOfARequest(t *testing.T) {
	expired := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old","code":410}`
	client, _ := pages(t, map[string]string{"": podPage("one", "a"), "one": expired})
	var names []string
	var last error
	for pod, err := range client.All(core.Pods).Each(t.Context(), nil) {
		if last = err; err == nil {
			names = append(names, pod.Name)
		}
	}
	if !errors.Is(last, kube.ErrExpired) || !kube.IsExpired(last) || len(names) != 1 {
		t.Errorf("got %v and then %v, want one pod and then ErrExpired", names, last)
	}
}

// TestOneBrokenObject has one pod among a thousand whose containers are a string.
func TestOneBrokenObject(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i)
	}
	page := strings.Replace(podPage("", names...), `"name":"p500","namespace":"ns"}`, `"name":"p500","namespace":"ns"},"spec":{"containers":"none"}`, 1)
	client, _ := pages(t, map[string]string{"": page})

	list, err := client.All(core.Pods).List(t.Context(), nil)
	if list == nil || len(list.Items) != 999 {
		t.Fatalf("List gave no list of 999: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "p500") || !strings.Contains(err.Error(), "containers") {
		t.Errorf("List's error is %v, want it to name the pod and the field", err)
	}
	good, bad := 0, []error(nil)
	for pod, err := range client.All(core.Pods).Each(t.Context(), nil) {
		if err != nil {
			bad = append(bad, err)
		} else if pod.Name != "" {
			good++
		}
	}
	if good != 999 || len(bad) != 1 || !strings.Contains(bad[0].Error(), "p500") {
		t.Errorf("Each gave %d pods and %v", good, bad)
	}
	events := 0
	for event, err := range watchOf(t, `{"type":"ADDED","object":`+`{"metadata":{"name":"x"},"spec":{"containers":"none"}}}`+"\n"+`{"type":"ADDED","object":{"metadata":{"name":"y"}}}`).Watch(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := event.Object.Decode(); (err != nil) != (event.Object.Name() == "x") {
			t.Errorf("decoding %s: %v", event.Object.Name(), err)
		}
		events++
	}
	if events != 2 {
		t.Errorf("%d events, want 2", events)
	}
}

// watchOf answers a watch of pods with body.
func watchOf(t *testing.T, body string) kube.API[corev1.Pod] {
	t.Helper()
	client, err := kube.NewClient(&kube.Config{Server: "https://c", Transport: &recorder{answer: body}})
	if err != nil {
		t.Fatal(err)
	}
	return client.All(core.Pods)
}

func TestWatchEndsWithTheErrorOfTheServer(t *testing.T) {
	expired := `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old resource version","code":410}}`
	api := watchOf(t, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n"+expired+"\n"+`{"type":"ADDED","object":{}}`)
	var types []string
	var last error
	for event, err := range api.Watch(t.Context(), nil) {
		if last = err; err != nil {
			continue
		}
		types = append(types, event.Type.String()+" "+event.ResourceVersion)
		if !event.InitialEventsEnd {
			t.Error("the bookmark does not end the initial events")
		}
	}
	if !cmp.Equal(types, []string{"BOOKMARK 12"}) || !errors.Is(last, kube.ErrExpired) {
		t.Errorf("got %v and then %v", types, last)
	}
}
