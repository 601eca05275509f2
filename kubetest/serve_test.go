package kubetest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

func TestURL(t *testing.T) {
	srv := kubetest.Start(t, nil)
	if first, second := srv.URL(), srv.URL(); first != second {
		t.Errorf("two addresses: %s, %s", first, second)
	}
	resp, err := http.Get(srv.URL() + "/api/v1/namespaces/default")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), `"name":"default"`) {
		t.Errorf("%d %s, %v", resp.StatusCode, body, err)
	}
}

func TestKubeconfig(t *testing.T) {
	srv := kubetest.Start(t, nil)
	data, err := os.ReadFile(srv.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(srv.Kubeconfig()); err != nil || !bytes.Equal(data, again) {
		t.Errorf("two kubeconfigs differ: %v", err)
	}
	t.Setenv("KUBECONFIG", srv.Kubeconfig())
	cfg, err := kube.InferConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	maps := client.Namespaced(core.ConfigMaps, "default")
	created := mustCreate(t, maps, "a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mustCreate(t, srv.Client().Namespaced(core.ConfigMaps, "default"), "b")
	for ev, err := range maps.Watch(ctx, &kube.WatchOptions{ResourceVersion: created.ResourceVersion}) {
		if err == nil && ev.Object.Name() == "b" {
			break
		}
		t.Fatalf("%v, %v", ev, err)
	}
}

func TestHandler(t *testing.T) {
	srv, err := kubetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	rec := httptest.NewRecorder()
	srv.ServeHTTP(rec, httptest.NewRequest("GET", "/api/v1/namespaces/default", nil))
	if rec.Code != 200 {
		t.Errorf("code %d", rec.Code)
	}
}

// TestClose checks that nothing is left of a server that was used in every way.
func TestClose(t *testing.T) {
	srv, err := kubetest.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Listen(); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.ListenTLS("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	maps := mapsOf(t, srv)
	mustCreate(t, maps, "a")
	first, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		n := 0
		for range maps.Watch(context.Background(), &kube.WatchOptions{ResourceVersion: "0"}) {
			if n++; n == 1 {
				close(first)
			}
		}
	}()
	<-first
	srv.Close()
	srv.Close()
	<-ended
	if _, err := maps.Get(context.Background(), "a"); err == nil {
		t.Error("a closed server answers")
	}
	if _, err := srv.Listen(); err == nil {
		t.Error("a closed server listens")
	}
	if _, err := srv.ListenTLS("127.0.0.1:0"); err == nil {
		t.Error("a closed server listens")
	}
	left := leftovers(t)
	for range 1000 {
		if left == "" {
			break
		}
		runtime.Gosched() // the last steps of a goroutine cannot be waited for
		left = leftovers(t)
	}
	if left != "" {
		t.Errorf("a goroutine is left:\n%s", left)
	}
}

// leftovers returns the stack of a goroutine of a server.
func leftovers(t *testing.T) string {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
		if strings.Contains(stack, "kubetest.(*") {
			return stack
		}
	}
	return ""
}

func TestGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{TB: t}
		srv := kubetest.Start(f, nil)
		srv.Go(func(ctx context.Context) error {
			<-ctx.Done()
			// The server still answers those that run.
			_, err := srv.Client().All(core.Namespaces).Get(context.WithoutCancel(ctx), "default")
			return errors.Join(err, ctx.Err())
		})
		srv.Go(func(context.Context) error { return errors.New("broken") })
		got := f.finish()
		if len(got) != 1 || got[0] != "kubetest: Server.Go: broken" {
			t.Errorf("failures %q", got)
		}
	})
}
