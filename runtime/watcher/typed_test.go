package watcher_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/watcher"
)

// The typed events are those of the engine, without bookmarks.
func TestTypedEvents(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		watch.Send("ADDED", object("a", "1"))
		watch.InitialEventsEnd("7")
		watch.Bookmark("8")
		watch.Send("MODIFIED", object("a", "9"))
		watch.Send("DELETED", object("a", "10"))
		var got []string
		for event := range watcher.New(srv.Client().Namespaced(core.ConfigMaps, "default"), nil).Events(t.Context()) {
			text := event.Type.String()
			if event.Object.Raw != nil {
				obj, err := event.Object.Decode()
				if err != nil {
					t.Fatal(err)
				}
				text += " " + obj.Name + "@" + obj.ResourceVersion
			}
			if got = append(got, text); event.Type == watcher.Delete {
				break
			}
		}
		if diff := cmp.Diff([]string{"Init", "InitApply a@1", "InitDone", "Apply a@9", "Delete a@10"}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A kind of which only the metadata is read has the same events.
func TestMetadataEvents(t *testing.T) {
	eachProtocol(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(streamList).Watch()
		watch.Send("ADDED", object("a", "1"))
		watch.InitialEventsEnd("7")
		for event := range watcher.New(srv.Client().Namespaced(core.ConfigMaps.Metadata(), "default"), nil).Events(t.Context()) {
			if event.Type != watcher.InitApply {
				continue
			}
			if obj, err := event.Object.Decode(); err != nil || obj.Name != "a" {
				t.Errorf("got %v, %v, want the metadata of a", obj, err)
			}
			break
		}
	})
}

// Two loops over one watcher are two watches; the state is that of the second.
func TestTwoLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		first, second := srv.Expect(streamList).Watch(), srv.Expect(streamList).Watch()
		w := watcher.New(srv.Client().Namespaced(core.ConfigMaps, "default"), nil)
		for range 2 {
			go func() {
				for range w.Events(t.Context()) {
				}
			}()
			synctest.Wait()
		}
		first.InitialEventsEnd("7")
		synctest.Wait()
		if got := w.State().Phase; got != watcher.Listing {
			t.Errorf("got phase %s, want that of the second loop", got)
		}
		second.InitialEventsEnd("8")
		time.Sleep(time.Second)
		if got := w.State(); got.Phase != watcher.Watching || got.ResourceVersion != "8" {
			t.Errorf("got state %+v, want that of the second loop", got)
		}
	})
}
