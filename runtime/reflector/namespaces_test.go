package reflector_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

func in(namespace string) func(*corev1.ConfigMap) {
	return func(o *corev1.ConfigMap) { o.Namespace = namespace }
}

func streamIn(namespace string) string {
	return "GET /api/v1/namespaces/" + namespace + "/configmaps?watch=true&sendInitialEvents=true"
}

// watchIn has the server stream the objects of a namespace, at version.
func watchIn(srv *apitest.Server, namespace, version string, names ...string) *apitest.Watch {
	w := srv.Expect(streamIn(namespace)).Watch()
	for _, name := range names {
		w.Send("ADDED", object(name, "1", in(namespace)))
	}
	w.InitialEventsEnd(version)
	return w
}

func refIn(namespace, name string) resource.Ref[corev1.ConfigMap] {
	return resource.Ref[corev1.ConfigMap]{Namespace: namespace, Name: name}
}

func wantCause(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

func TestSeveralNamespaces(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		one := watchIn(srv, "one", "10", "a")
		two := srv.Expect(streamIn("two")).Watch()
		byLabel := reflector.ByLabel[corev1.ConfigMap]("app")
		r := newReflector(srv, &reflector.Options{Namespaces: reflector.NewNamespaceSet("two", "one", "one")})
		r.Index(byLabel)
		store := r.Store()
		f := follow(t, r, nil)
		run(t, r)

		if store.Ready() || !store.ReadyIn("one") || store.ReadyIn("two") {
			t.Error("the store is ready before it has all of its namespaces")
		}
		_, err := store.Get(refIn("two", "b"))
		wantCause(t, err, reflector.ErrNotReady)
		if state := r.State(); state.Synced || state.Phase != watcher.Listing {
			t.Errorf("got state %+v", state)
		}
		f.want()

		two.Send("ADDED", object("b", "2", in("two"), label("app", "x")))
		two.InitialEventsEnd("20")
		wantStore(t, r, "a@1", "b@2")
		f.want("=a@1 =b@2")
		if state := r.State(); !state.Synced || state.Phase != watcher.Watching {
			t.Errorf("got state %+v", state)
		}

		for _, c := range []struct {
			namespace string
			want      error
		}{{"one", reflector.ErrAbsent}, {"three", reflector.ErrOutside}, {"three", reflector.ErrAbsent}} {
			_, err := store.Get(refIn(c.namespace, "nobody"))
			wantCause(t, err, c.want)
		}
		one.Send("MODIFIED", object("a", "21", in("one"), label("app", "x")))
		two.Send("ADDED", object("a", "22", in("two")))
		f.want("a@21 a@22") // of two watches, in no order
		two.Send("DELETED", object("a", "23", in("two")))
		f.want("-a@23")
		if diff := cmp.Diff([]string{"a@21", "b@2"}, names(byLabel.Lookup(store, "x"))); diff != "" {
			t.Errorf("by label (-want +got):\n%s", diff)
		}
		wantStore(t, r, "a@21", "b@2")
	})
}

func TestRelistOfOneNamespace(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		one := watchIn(srv, "one", "10", "a", "b")
		watchIn(srv, "two", "10", "a")
		r := newReflector(srv, &reflector.Options{Namespaces: reflector.NewNamespaceSet("one", "two")})
		f := follow(t, r, nil)
		run(t, r)
		f.want("=a@1 =a@1 =b@1")

		again := srv.Expect(streamIn("one")).Watch()
		one.Error(410, "Expired", "too old")
		time.Sleep(5 * time.Second)
		again.Send("ADDED", object("a", "1", in("one")))
		again.Send("ADDED", object("c", "11", in("one")))
		f.want()
		again.InitialEventsEnd("30")
		f.want("-b@1 c@11")
		wantStore(t, r, "a@1", "a@1", "c@11")
	})
}

func TestNamespaceSetChanges(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		one := watchIn(srv, "one", "10", "a", "b")
		watchIn(srv, "two", "10", "a")
		set := reflector.NewNamespaceSet("one", "two")
		r := newReflector(srv, &reflector.Options{Namespaces: set})
		f := follow(t, r, nil)
		run(t, r)
		f.want("=a@1 =a@1 =b@1")

		three := srv.Expect(streamIn("three")).Watch()
		if err := set.Set("three", "two"); err != nil {
			t.Fatal(err)
		}
		f.want("-a@1 -b@1")
		if one.Open() {
			t.Error("a namespace that left is watched")
		}
		wantStore(t, r, "a@1")
		_, err := r.Store().Get(refIn("one", "a"))
		wantCause(t, err, reflector.ErrOutside)
		_, err = r.Store().Get(refIn("three", "a"))
		wantCause(t, err, reflector.ErrNotReady)
		if !r.Store().Ready() || r.Store().ReadyIn("three") {
			t.Error("a ready store stays ready, a namespace that joins is not at once")
		}
		joined := make(chan error, 1)
		go func() { joined <- r.Store().WaitReadyIn(t.Context(), "three") }()
		synctest.Wait()
		three.Send("ADDED", object("z", "12", in("three")))
		synctest.Wait()
		if len(joined) != 0 {
			t.Error("WaitReadyIn did not wait for the end of the list")
		}
		three.InitialEventsEnd("12")
		f.want("=z@12")
		if err := <-joined; err != nil {
			t.Error(err)
		}
		three.Send("MODIFIED", object("z", "13", in("three")))
		f.want("z@13")

		watchIn(srv, "one", "20", "a")
		if err := set.Set("one"); err != nil {
			t.Fatal(err)
		}
		f.want("-a@1 -z@13", "=a@1")
		if err := set.Set(); err != nil {
			t.Fatal(err)
		}
		f.want("-a@1")
		wantStore(t, r)
		if got := r.Store().Stats(); got.Bytes != 0 || !r.Store().Ready() {
			t.Errorf("an empty set leaves %+v", got)
		}
		if err := set.Set("one", "not a name"); err == nil || !strings.Contains(err.Error(), `"not a name"`) {
			t.Errorf("got error %v", err)
		}
		if got := set.Names(); len(got) != 0 {
			t.Errorf("a set with a bad name was taken: %q", got)
		}
	})
}

// A namespace that leaves while it holds up the others does so no longer.
func TestNamespaceLeavesBeforeTheStoreIsReady(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watchIn(srv, "one", "10", "a")
		srv.Expect("GET /api/v1/namespaces/closed/configmaps").Always().Status(403, metav1.StatusReasonForbidden, "not for you", 0)
		set := reflector.NewNamespaceSet("one", "closed")
		var failures []error
		r := newReflector(srv, &reflector.Options{Namespaces: set, Watch: watcher.Options{OnError: func(err error) { failures = append(failures, err) }}})
		f := follow(t, r, nil)
		run(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.Store().WaitReady(ctx)
		wantCause(t, err, kube.ErrForbidden)
		wantCause(t, err, context.DeadlineExceeded)
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("the error does not name the namespace: %v", err)
		}
		synctest.Wait()
		if len(failures) == 0 {
			t.Error("OnError was not called")
		}
		f.want()
		if err := set.Set("one"); err != nil {
			t.Fatal(err)
		}
		f.want("=a@1")
		wantStore(t, r, "a@1")
		if state := r.State(); state.LastError != nil || !state.Synced {
			t.Errorf("got state %+v", state)
		}
	})
}

func TestWaitForInANamespace(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		one := watchIn(srv, "one", "10")
		two := watchIn(srv, "two", "12")
		r := newReflector(srv, &reflector.Options{Namespaces: reflector.NewNamespaceSet("one", "two")})
		run(t, r)
		if got := r.Store().Stats().ResourceVersion; got != "10" {
			t.Errorf("the store is at %s, want the version that all namespaces have reached", got)
		}
		wait := func(namespace, version string) <-chan error {
			done := make(chan error, 1)
			go func() {
				if namespace == "" {
					done <- r.Store().WaitFor(t.Context(), version)
				} else {
					done <- r.Store().WaitForIn(t.Context(), namespace, version)
				}
			}()
			synctest.Wait()
			return done
		}
		if err := <-wait("two", "11"); err != nil {
			t.Error(err)
		}
		all, there := wait("", "15"), wait("one", "15")
		one.Send("ADDED", object("a", "15", in("one")))
		if err := <-there; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(all) != 0 {
			t.Error("WaitFor did not wait for the other namespace")
		}
		two.Bookmark("16")
		if err := <-all; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for namespace, want := range map[string]string{"one": `"15" in namespace one`, "else": "in namespace else, which it does not keep"} {
			err := r.Store().WaitForIn(ctx, namespace, "99")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want it to say %q", err, want)
			}
		}
		if err := r.Store().WaitForIn(ctx, "one", "x"); err == nil {
			t.Error("no error for a version that is none")
		}
	})
}

func TestReflectorsOfNamespacesShare(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watchIn(srv, "one", "10", "a")
		api, set := srv.Client().All(core.ConfigMaps), reflector.NewNamespaceSet("one")
		opts := &reflector.Options{Share: true, Namespaces: set}
		first, second := reflector.New(api, opts), reflector.New(api, opts)
		f := follow(t, second, nil)
		stop := run(t, first)
		run(t, second)
		f.want("=a@1")
		wantRequests(t, srv, 1)
		stop()
		watchIn(srv, "two", "11", "b")
		if err := set.Set("two"); err != nil {
			t.Fatal(err)
		}
		f.want("-a@1", "=b@1")

		// Another set is another store, if it has the same names as well.
		watchIn(srv, "two", "11", "b")
		other := reflector.New(api, &reflector.Options{Share: true, Namespaces: reflector.NewNamespaceSet("two")})
		run(t, other)
		wantRequests(t, srv, 3)
	})
}

const namespaceStream = "GET /api/v1/namespaces?watch=true&sendInitialEvents=true&labelSelector=team%3Dblue"

func namespace(name, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version, UID: "uid-of-namespace"},
	}
}

func TestSelectedNamespaces(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		blue := srv.Expect(namespaceStream).Watch()
		watchIn(srv, "one", "10", "a")
		client := srv.Client()
		r := reflector.New(client.All(core.ConfigMaps), &reflector.Options{Namespaces: reflector.SelectNamespaces(client, "team=blue")})
		f := follow(t, r, nil)
		if phase := r.State().Phase; phase != watcher.Idle {
			t.Errorf("got phase %v before Run", phase)
		}
		run(t, r)
		_, err := r.Store().Get(refIn("one", "a"))
		wantCause(t, err, reflector.ErrNotReady) // which namespaces there are is not known
		blue.Send("ADDED", namespace("one", "3"))
		blue.InitialEventsEnd("10")
		f.want("=a@1")

		watchIn(srv, "two", "12", "b")
		blue.Send("ADDED", namespace("two", "11")) // created, or it has the label now
		f.want("=b@1")
		blue.Send("MODIFIED", namespace("two", "12"))
		f.want()
		blue.Send("DELETED", namespace("one", "13")) // is gone, or has lost the label
		f.want("-a@1")
		wantStore(t, r, "b@1")
		watchIn(srv, "one", "14", "c")
		blue.Send("ADDED", namespace("one", "14"))
		f.want("=c@1")
		wantStore(t, r, "b@1", "c@1")
		if state := r.State(); !state.Synced || state.LastError != nil {
			t.Errorf("got state %+v", state)
		}
	})
}

// Stores of several kinds need one watch of the namespaces.
func TestSelectedNamespacesAreWatchedOnce(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		blue := srv.Expect(namespaceStream).Watch()
		blue.Send("ADDED", namespace("one", "3"))
		blue.InitialEventsEnd("10")
		watchIn(srv, "one", "10", "a")
		secrets := srv.Expect("GET /api/v1/namespaces/one/secrets?watch=true").Watch()
		secrets.InitialEventsEnd("10")
		client := srv.Client()
		opts := &reflector.Options{Namespaces: reflector.SelectNamespaces(client, "team=blue")}
		maps := reflector.New(client.All(core.ConfigMaps), opts)
		stop := run(t, maps)
		run(t, reflector.New(client.All(core.Secrets), opts))
		wantStore(t, maps, "a@1")
		wantRequests(t, srv, 3)
		stop()
		if !blue.Open() || !secrets.Open() {
			t.Error("the end of one store was that of the other")
		}
	})
}

func TestNamespacesCannotBeSelected(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		srv.Expect("GET /api/v1/namespaces").Always().Status(403, metav1.StatusReasonForbidden, "not for you", 0)
		client := srv.Client()
		var failures []error
		r := reflector.New(client.All(core.ConfigMaps), &reflector.Options{
			Namespaces: reflector.SelectNamespaces(client, ""),
			Watch:      watcher.Options{OnError: func(err error) { failures = append(failures, err) }},
		})
		run(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.Store().WaitReady(ctx)
		wantCause(t, err, kube.ErrForbidden)
		synctest.Wait()
		if len(failures) == 0 || r.State().Synced {
			t.Errorf("got failures %v and state %+v", failures, r.State())
		}
	})
}

func TestNamespaceMistakes(t *testing.T) {
	client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	maps := client.All(core.ConfigMaps).Endpoint()
	for _, c := range []struct {
		endpoint   kube.Endpoint
		namespaces reflector.Namespaces
		want       []string
	}{
		{maps, reflector.NewNamespaceSet("ok", "Not_OK"), []string{`"Not_OK"`}},
		{maps, reflector.NewNamespaceSet(""), []string{`""`}},
		{maps, reflector.SelectNamespaces(client, "a in b"), []string{"a in b"}},
		{maps, reflector.SelectNamespaces(nil, "a=b"), []string{"no client"}},
		{maps.In("x"), reflector.NewNamespaceSet("ok"), []string{"configmaps", `"x"`, "client.All"}},
		{client.All(core.Nodes).Endpoint(), reflector.NewNamespaceSet("ok"), []string{"nodes", "not in namespaces"}},
	} {
		err := reflector.ForEndpoint[corev1.ConfigMap](c.endpoint, &reflector.Options{Namespaces: c.namespaces}).Run(t.Context())
		if err == nil || slices.ContainsFunc(c.want, func(part string) bool { return !strings.Contains(err.Error(), part) }) {
			t.Errorf("got error %v, want it to say %q", err, c.want)
		}
	}
}

// What a store of one namespace says of another must not read as "it does not exist".
func TestOutsideOfTheNamespace(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watchIn(srv, "one", "10", "a")
		r := reflector.New(srv.Client().Namespaced(core.ConfigMaps, "one"), nil)
		run(t, r)
		_, err := r.Store().Get(refIn("two", "a"))
		wantCause(t, err, reflector.ErrOutside)
		wantCause(t, err, reflector.ErrAbsent)
		_, err = r.Store().Get(refIn("one", "b"))
		if errors.Is(err, reflector.ErrOutside) || !errors.Is(err, reflector.ErrAbsent) {
			t.Errorf("got error %v", err)
		}
		if !r.Store().ReadyIn("one") || r.Store().ReadyIn("two") {
			t.Error("ReadyIn is wrong")
		}
	})
}
