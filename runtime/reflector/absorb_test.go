package reflector_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

type configMapMetadata = resource.Metadata[corev1.ConfigMap]

// Readers of metadata go over to the store of whole objects that comes later, and hear of what has changed and
// of nothing else.
func TestReadersOfMetadataMoveToWholeObjects(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		client := srv.Client()
		first := srv.Expect(stream).Watch()
		send(first, "10", object("a", "1"), object("b", "2"), object("c", "3"), object("d", "4"))
		metadata := reflector.New(client.All(core.ConfigMaps.Metadata()), shared)
		stopMetadata := run(t, metadata)
		f := follow(t, metadata, nil)
		f.want("=a@1 =b@2 =c@3 =d@4")
		feed := listen(t, reflector.NewFeed(client.All(core.ConfigMaps).Endpoint().Metadata(), sharedFeed))
		waited := make(chan error, 1)
		go func() { waited <- metadata.Store().WaitFor(t.Context(), "14") }()

		whole := srv.Expect(stream).Watch()
		r := reflector.New(client.All(core.ConfigMaps), shared)
		stop := run(t, r)
		send(whole, "15", object("a", "1", data("k", "v")), object("b", "12"), object("d", "14", uid("another")))
		f.want("-c@3 -d@4", "b@12 d@14")
		if err := <-waited; err != nil {
			t.Errorf("WaitFor: %v", err)
		}
		wantOpen(t, whole, first)
		wantRequests(t, srv, 2)
		feed.mu.Lock()
		if n := len(feed.events); feed.events[n-1] != "InitDone @15" || slices.Contains(feed.events[6:], "InitApply c@3") {
			t.Errorf("the feed was told %q", feed.events)
		}
		feed.mu.Unlock()
		m, err := metadata.Store().Get(resource.Ref[configMapMetadata]{Namespace: "default", Name: "b"})
		if err != nil || m.ResourceVersion != "12" {
			t.Errorf("got %v, %v", m, err)
		}
		if a, err := r.Store().Get(ref("a")); err != nil || a.Data["k"] != "v" {
			t.Errorf("got %v, %v", a, err)
		}

		stop() // of whom the watch is
		whole.Send("MODIFIED", object("a", "16"))
		f.want("a@16")
		if v := metadata.Store().Stats().ResourceVersion; v != "16" || metadata.State().ResourceVersion != "16" {
			t.Errorf("the store is at %s", v)
		}
		feed.stop()
		stopMetadata()
		synctest.Wait()
		time.Sleep(time.Second)
		if whole.Open() {
			t.Error("the watch goes on without readers")
		}
		if err := metadata.Store().WaitFor(t.Context(), "99"); !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("WaitFor after the end: %v", err)
		}
	})
}

// Nobody is shown the past: a store of whole objects that is behind takes over when it has caught up.
func TestReadersOfMetadataDoNotGoBack(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		client := srv.Client()
		first := srv.Expect(stream).Watch()
		send(first, "10", object("a", "1"))
		metadata := reflector.New(client.All(core.ConfigMaps.Metadata()), shared)
		run(t, metadata)
		f := follow(t, metadata, nil)
		f.want("=a@1")
		first.Send("MODIFIED", object("a", "20"))
		f.want("a@20")

		whole := srv.Expect(stream).Watch()
		send(whole, "15", object("a", "1"))
		r := reflector.New(client.All(core.ConfigMaps), shared)
		run(t, r)
		wantStore(t, r, "a@1")
		time.Sleep(time.Minute)
		f.want()
		wantOpen(t, first)
		if v := metadata.Store().Stats().ResourceVersion; v != "20" {
			t.Errorf("the store of metadata is at %s", v)
		}
		whole.Send("MODIFIED", object("a", "20"))
		synctest.Wait()
		f.want()
		wantOpen(t, whole, first)
		whole.Send("DELETED", object("a", "21"))
		f.want("-a@21")
	})
}

// A store of several namespaces moves as a whole.
func TestReadersOfMetadataInSeveralNamespacesMove(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		client := srv.Client()
		set := reflector.NewNamespaceSet("one", "two")
		opts := &reflector.Options{Share: true, Namespaces: set}
		before := []*apitest.Watch{watchIn(srv, "one", "10", "a"), watchIn(srv, "two", "10", "b")}
		metadata := reflector.New(client.All(core.ConfigMaps.Metadata()), opts)
		run(t, metadata)
		f := follow(t, metadata, nil)
		f.want("=a@1 =b@1")
		before[1].Bookmark("19")
		synctest.Wait()

		one, two := watchIn(srv, "one", "30", "a", "c"), watchIn(srv, "two", "18", "b")
		run(t, reflector.New(client.All(core.ConfigMaps), opts))
		f.want() // it is behind in one of them
		two.Bookmark("19")
		f.want("c@1")
		wantOpen(t, one, before...)
		wantOpen(t, two)
		watchIn(srv, "three", "40", "d")
		if err := set.Set("two", "three"); err != nil {
			t.Fatal(err)
		}
		f.want("-a@1 -c@1", "=d@1")
		wantRequests(t, srv, 5)
	})
}
