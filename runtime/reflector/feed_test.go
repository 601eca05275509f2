package reflector_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listener notes the events of a feed.
type listener struct {
	t    *testing.T
	feed *reflector.Feed
	stop func()
	gate chan struct{} // in front of the next event, where there is one

	mu     sync.Mutex
	events []string
}

func listen(t *testing.T, feed *reflector.Feed) *listener {
	l := &listener{t: t, feed: feed}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range feed.Events(ctx) {
			l.take(event)
		}
	}()
	l.stop = func() { cancel(); <-done }
	t.Cleanup(l.stop)
	synctest.Wait()
	return l
}

func (l *listener) take(event watcher.RawEvent) {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := event.Type.String()
	switch {
	case event.Object != nil:
		text += " " + event.Object.Name() + "@" + event.Object.ResourceVersion()
	case event.ResourceVersion != "":
		text += " @" + event.ResourceVersion
	}
	l.events = append(l.events, text)
}

func (l *listener) want(events ...string) {
	l.t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if diff := cmp.Diff(events, l.events); diff != "" {
		l.t.Errorf("events (-want +got):\n%s", diff)
	}
	l.events = nil
}

var sharedFeed = &reflector.FeedOptions{Share: true}

const metadataStream = stream // of metadata: the same address

// A feed of a reflector tells what is there and what happens, and begins anew after a list.
func TestFeedOfAReflector(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		l := listen(t, r.Feed(0))
		l.want("Init", "InitApply a@1", "InitDone @10")
		watch.Send("ADDED", object("b", "11"))
		l.want("Apply b@11", "Bookmark @11")
		watch.Bookmark("15")
		l.want("Bookmark @15")
		watch.Send("DELETED", object("a", "16"))
		l.want("Delete a@16", "Bookmark @16")

		send(srv.Expect(stream).Watch(), "20", object("c", "18"))
		watch.Error(410, metav1.StatusReasonExpired, "too old")
		synctest.Wait()
		l.want("Init", "InitApply c@18", "InitDone @20", "Delete b@11")
		if state := l.feed.State(); state.Phase != watcher.Watching || state.ResourceVersion != "20" {
			t.Errorf("the state is %+v", state)
		}
	})
}

// A list does not hide a deletion from one who is late.
func TestFeedThatIsLate(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		l := listen(t, r.Feed(0))
		l.want("Init", "InitApply a@1", "InitDone @10")
		l.gate = make(chan struct{}) // it is stuck within the next event
		watch.Send("MODIFIED", object("a", "11"))
		synctest.Wait()
		watch.Send("DELETED", object("a", "12"))
		watch.Send("ADDED", object("b", "13"))
		watch.Send("DELETED", object("b", "14"))
		send(srv.Expect(stream).Watch(), "20", object("c", "18"))
		watch.Error(410, metav1.StatusReasonExpired, "too old")
		synctest.Wait()
		close(l.gate)
		l.want("Apply a@11", "Init", "InitApply c@18", "InitDone @20", "Delete a@12", "Delete b@14")
	})
}

// One feed alone has a watch and no store; two have a store; a store of whole objects serves
// those who want metadata.
func TestFeedsFindEachOther(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		client := srv.Client()
		metadata := client.All(core.ConfigMaps).Endpoint().Metadata()
		alone := srv.Expect(metadataStream).Watch()
		send(alone, "10", object("a", "1"))
		one := listen(t, reflector.NewFeed(metadata, &reflector.FeedOptions{Share: true, Watch: watcher.Options{OnError: func(err error) { t.Error(err) }}}))
		one.want("Init", "InitApply a@1", "InitDone @10")

		store := srv.Expect(metadataStream).Watch()
		send(store, "12", object("b", "11"))
		two := listen(t, reflector.NewFeed(metadata, sharedFeed))
		two.want("Init", "InitApply b@11", "InitDone @12")
		one.want("Init", "InitApply b@11", "InitDone @12")
		wantOpen(t, store, alone)

		whole := srv.Expect(stream).Watch()
		send(whole, "14", object("b", "11"))
		r := reflector.New(client.All(core.ConfigMaps), shared)
		stop := run(t, r)
		one.want("Init", "InitApply b@11", "InitDone @14")
		two.want("Init", "InitApply b@11", "InitDone @14")
		wantOpen(t, whole, alone, store)
		stop()
		wantOpen(t, whole)
		one.stop()
		whole.Send("DELETED", object("b", "15"))
		two.want("Delete b@15", "Bookmark @15")
		three := listen(t, reflector.NewFeed(metadata, sharedFeed))
		three.want("Init", "InitDone @15")
		two.stop()
		wantOpen(t, whole)
		three.stop()
		time.Sleep(time.Second)
		if synctest.Wait(); whole.Open() {
			t.Error("the watch goes on without anybody")
		}
	})
}

// wantOpen checks that one watch is open, and others are not.
func wantOpen(t *testing.T, open *apitest.Watch, closed ...*apitest.Watch) {
	t.Helper()
	time.Sleep(time.Second) // net/http reads on for a moment
	synctest.Wait()
	if !open.Open() {
		t.Error("the watch is not open")
	}
	for i, w := range closed {
		if w.Open() {
			t.Errorf("watch %d before it is still open", i)
		}
	}
}

func TestFeedsThatShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		client := srv.Client()
		for range 4 {
			send(srv.Expect(stream).Watch(), "10", object("a", "1"))
		}
		run(t, reflector.New(client.All(core.ConfigMaps.Metadata()), shared))
		for _, feed := range []*reflector.Feed{
			reflector.NewFeed(client.All(core.ConfigMaps).Endpoint(), sharedFeed),     // whole objects
			reflector.NewFeed(client.All(core.ConfigMaps).Endpoint().Metadata(), nil), // does not want to
			reflector.NewFeed(client.All(core.ConfigMaps).Endpoint().Metadata(), &reflector.FeedOptions{Share: true, Watch: watcher.Options{PageSize: 7}}),
		} {
			listen(t, feed).want("Init", "InitApply a@1", "InitDone @10")
		}
		wantRequests(t, srv, 4)
	})
}

// A reader of metadata reads the store of whole objects that is there.
func TestMetadataFromAStoreOfWholeObjects(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		client := srv.Client()
		send(srv.Expect(stream).Watch(), "10", object("a", "1", label("app", "web"), data("key", "value")))
		run(t, reflector.New(client.All(core.ConfigMaps), shared))
		r := reflector.New(client.All(core.ConfigMaps.Metadata()), shared)
		run(t, r)
		m, err := r.Store().Get(resource.Ref[resource.Metadata[corev1.ConfigMap]]{Namespace: "default", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if m.Labels["app"] != "web" || m.ResourceVersion != "1" || m.Kind != "ConfigMap" {
			t.Errorf("got %+v", m)
		}
		wantRequests(t, srv, 1)
	})
}

func TestFeedWithInvalidOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []error
		feed := reflector.NewFeed(apitest.Start(t, nil).Client().All(core.ConfigMaps).Endpoint(),
			&reflector.FeedOptions{Share: true, Watch: watcher.Options{Labels: "a in", OnError: func(err error) { heard = append(heard, err) }}})
		if feed.Err() == nil {
			t.Error("Err is nil")
		}
		listen(t, feed).want()
		if len(heard) != 1 {
			t.Errorf("heard of %v", heard)
		}
	})
}

// OnError of one whose Run has returned is not called, and Run does not return within it, whatever
// the others hear.
func TestNoFailureIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect(stream).Always().Status(403, metav1.StatusReasonForbidden, "no", 0)
		api := srv.Client().All(core.ConfigMaps)
		others := 0
		run(t, reflector.New(api, &reflector.Options{Share: true, Watch: watcher.Options{OnError: func(error) { others++ }}}))
		told, release := 0, make(chan struct{})
		r := reflector.New(api, &reflector.Options{Share: true, Watch: watcher.Options{OnError: func(error) {
			<-release
			told++
		}}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := r.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		}()
		time.Sleep(2 * time.Second) // the next failure has come
		cancel()
		synctest.Wait()
		select {
		case <-done:
			t.Error("Run has returned while OnError is called")
		default:
		}
		close(release)
		<-done
		if told != 1 {
			t.Errorf("OnError was called %d times, want once", told)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if told != 1 || others < 50 {
			t.Errorf("after an hour OnError was called %d times, and %d times of the other", told, others)
		}
	})
}
