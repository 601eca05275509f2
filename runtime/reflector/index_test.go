package reflector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

type cm = corev1.ConfigMap

func nth(i int) types.UID { return types.UID(fmt.Sprint("uid-", i)) }

var (
	byData      = reflector.NewIndex(func(o *cm) []string { return strings.Fields(o.Data["keys"]) })
	byApp       = reflector.ByLabel[cm]("app")
	byOwner     = reflector.ByOwner[cm]()
	byNamespace = reflector.ByNamespace[cm]()
)

func ownedBy(uids ...types.UID) func(*cm) {
	return func(o *cm) {
		o.OwnerReferences = nil
		for _, uid := range uids {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Owner", Name: "x", UID: uid})
		}
	}
}

func TestIndexes(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		for _, x := range []*reflector.Index[cm]{byData, byApp, byOwner, byNamespace, byApp} {
			r.Index(x)
		}
		run(t, r)
		want := func(x *reflector.Index[cm], value string, objects ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(objects, names(x.Lookup(r.Store(), value))); diff != "" {
				t.Errorf("objects with %q (-want +got):\n%s", value, diff)
			}
		}
		want(byApp, "web")
		send(watch, "10",
			object("a", "1", label("app", "web"), data("keys", "x y"), ownedBy("1", "2")),
			object("b", "2", label("app", "web"), data("keys", "y y"), ownedBy("2")),
			object("c", "3"))
		want(byApp, "web", "a@1", "b@2")
		want(byApp, "db")
		want(byData, "x", "a@1")
		want(byData, "y", "a@1", "b@2")
		want(byOwner, "2", "a@1", "b@2")
		want(byNamespace, "default", "a@1", "b@2", "c@3")

		watch.Send("MODIFIED", object("a", "11", label("app", "db"), data("keys", "y z"), ownedBy("1")))
		want(byApp, "web", "b@2")
		want(byApp, "db", "a@11")
		want(byData, "x")
		want(byData, "y", "a@11", "b@2")
		want(byData, "z", "a@11")
		want(byOwner, "2", "b@2")

		watch.Send("DELETED", object("b", "12"))
		want(byApp, "web")
		want(byData, "y", "a@11")
		want(byOwner, "2")

		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		send(again, "20",
			object("a", "11", label("app", "db"), data("keys", "y z"), ownedBy("1")),
			object("c", "13", label("app", "db"), data("keys", "z")),
			object("d", "14", data("keys", "x")))
		time.Sleep(2 * time.Second)
		want(byApp, "db", "a@11", "c@13")
		want(byData, "x", "d@14")
		want(byData, "z", "a@11", "c@13")
		want(byNamespace, "default", "a@11", "c@13", "d@14")
		wantStore(t, r, "a@11", "c@13", "d@14")
	})
}

// A value that many objects have is as right as one that few have.
func TestIndexWithManyObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		r.Index(byApp)
		r.Index(byData)
		run(t, r)
		var objects []*cm
		for i := range 200 {
			objects = append(objects, object(fmt.Sprint("o", i), "1", label("app", "web"), data("keys", "k")))
		}
		send(watch, "10", objects...)
		for i := range 200 {
			if i%3 == 0 {
				watch.Send("DELETED", object(fmt.Sprint("o", i), fmt.Sprint(11+i)))
			} else if i%3 == 1 {
				watch.Send("MODIFIED", object(fmt.Sprint("o", i), fmt.Sprint(11+i), label("app", "db"), data("keys", "l")))
			}
		}
		synctest.Wait()
		for value, n := range map[string]int{"web": 66, "db": 67} {
			if got := len(names(byApp.Lookup(r.Store(), value))); got != n {
				t.Errorf("got %d objects with app=%s, want %d", got, value, n)
			}
		}
		for value, n := range map[string]int{"k": 66, "l": 67} {
			if got := len(names(byData.Lookup(r.Store(), value))); got != n {
				t.Errorf("got %d objects with key %s, want %d", got, value, n)
			}
		}
	})
}

func wantPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), text) {
			t.Errorf("got panic %v, want one with %q", p, text)
		}
	}()
	f()
}

func TestMistakesOfTheProgrammer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := started(t, apitest.Start(t, nil), nil)
		wantPanic(t, "Index was called after Run", func() { r.Index(byApp) })
		wantPanic(t, "Modify was called after Run", func() { r.Modify(func(*cm) {}) })
		wantPanic(t, "not registered for configmaps", func() { byApp.Lookup(r.Store(), "web") })
	})
}

func TestModify(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		r.Index(byData)
		r.Modify(func(o *cm) { delete(o.Data, "secret") })
		r.Modify(func(o *cm) { o.Data["keys"] = "modified" })
		run(t, r)
		secret := func(version string) *cm {
			return object("a", version, func(o *cm) { o.Data = map[string]string{"secret": strings.Repeat("s", 1000), "keys": "x"} })
		}
		send(watch, "10", secret("1"))
		f := follow(t, r, nil)
		check := func(version string) {
			t.Helper()
			wantStore(t, r, "a@"+version)
			got, err := r.Store().Get(ref("a"))
			if err != nil || len(got.Data) != 1 || got.Data["keys"] != "modified" {
				t.Errorf("got %v, %v, want it modified", got.Data, err)
			}
			if lazy, _ := r.Store().Lazy(ref("a")); lazy.Size() > 700 {
				t.Errorf("the modified object takes %d bytes", lazy.Size())
			}
			if n := len(names(byData.Lookup(r.Store(), "modified"))); n != 1 {
				t.Errorf("the index does not see the modified object")
			}
		}
		check("1")
		watch.Send("MODIFIED", secret("11"))
		check("11")
		f.want("=a@1", "a@11")

		// A new snapshot compares with what the server sent before.
		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		watch = again
		send(watch, "20", secret("11"))
		time.Sleep(2 * time.Second)
		check("11")
		f.want()

		// The last state of what is gone is modified as well.
		var last int
		gone, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for change := range r.Changes(gone) {
				last = change.Object.Size()
			}
		}()
		synctest.Wait()
		watch.Send("DELETED", secret("21"))
		f.want("-a@21")
		if last > 700 {
			t.Errorf("the last state of the object takes %d bytes", last)
		}
	})
}

// Objects of which only the metadata is read can be modified, too.
func TestModifyMetadata(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		send(srv.Expect(stream).Watch(), "10", object("a", "1", label("app", "web"), label("drop", "x")))
		r := reflector.New(srv.Client().All(core.ConfigMaps.Metadata()), nil)
		r.Modify(func(m *resource.Metadata[cm]) { delete(m.Labels, "drop") })
		run(t, r)
		got, err := r.Store().Get(resource.Ref[resource.Metadata[cm]]{Namespace: "default", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"app": "web"}, got.Labels); diff != "" || got.Kind != "ConfigMap" {
			t.Errorf("got %+v (-want +got labels):\n%s", got, diff)
		}
	})
}

func TestModifyMustKeepTheIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect(stream).Watch()
		var errs []error
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{OnError: func(err error) { errs = append(errs, err) }}})
		r.Modify(func(o *cm) { o.Name = "other" })
		run(t, r)
		send(watch, "10", object("a", "1"))
		wantStore(t, r, "a@1")
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "a Modify function changed its namespace, name or uid to ConfigMap default/other") {
			t.Errorf("got %v, want an error about the name", errs)
		}
	})
}

func TestDecoded(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, &reflector.Options{Decoded: true}, object("a", "1", data("k", "v")))
		first, err := r.Store().Get(ref("a"))
		if err != nil || first.Data["k"] != "v" {
			t.Fatalf("got %v, %v", first, err)
		}
		if again, _ := r.Store().Get(ref("a")); again != first {
			t.Error("Get has decoded an object that is kept decoded")
		}
		watch.Send("MODIFIED", object("a", "11", data("k", "w")))
		synctest.Wait()
		if now, _ := r.Store().Get(ref("a")); now == first || now.Data["k"] != "w" {
			t.Errorf("got %v after a change, want the new object", now)
		}
	})
}

// One object of a thousand does not decode: the others work, and it is told once per version.
func TestObjectThatDoesNotDecode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		var errs []*reflector.DecodeError
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{
			InitialList: watcher.ListWatch,
			OnError: func(err error) {
				decode, ok := errors.AsType[*reflector.DecodeError](err)
				if ok {
					errs = append(errs, decode)
				}
			},
		}})
		r.Index(byData)
		r.Index(byApp)
		items := make([]any, 1000)
		for i := range items {
			items[i] = object(fmt.Sprint("o", i), "1", label("app", "web"), data("keys", "k"))
		}
		broken := `{"metadata":{"namespace":"default","name":"o500","uid":"uid-o500","resourceVersion":"VERSION","labels":{"app":"web"}},"data":{"keys":["no","string"]}}`
		items[500] = strings.ReplaceAll(broken, "VERSION", "1")
		list := func(version string) { srv.Expect("GET "+path+"?watch=").List(version, "", items...) }
		list("10")
		watch := srv.Expect("GET " + path + "?watch=true").Watch()
		f := follow(t, r, nil)
		run(t, r)

		check := func(reported int) {
			t.Helper()
			synctest.Wait()
			if len(errs) != reported {
				t.Errorf("got %d reports, want %d: %v", len(errs), reported, errs)
			}
			if n := r.Store().Len(); n != 1000 {
				t.Errorf("got %d objects, want 1000", n)
			}
			if n := len(names(byData.Lookup(r.Store(), "k"))); n != 999 {
				t.Errorf("got %d objects in the index that decodes, want 999", n)
			}
			if n := len(names(byApp.Lookup(r.Store(), "web"))); n != 1000 {
				t.Errorf("got %d objects in the index by label, want 1000", n)
			}
		}
		check(1)
		if e := errs[0]; e.Name != "o500" || e.Namespace != "default" || e.ResourceVersion != "1" || e.Resource != "configmaps" {
			t.Errorf("got report %+v, want it to name the object", e)
		}
		if _, err := r.Store().Get(ref("o500")); err == nil || errors.Is(err, reflector.ErrAbsent) {
			t.Errorf("got %v, want the error of the decoder", err)
		}
		if _, err := r.Store().Get(ref("o501")); err != nil {
			t.Error(err)
		}
		f.mu.Lock()
		if len(f.seen) != 1000 {
			t.Errorf("the follower saw %d objects, want 1000", len(f.seen))
		}
		f.seen = nil
		f.mu.Unlock()

		// The same version again is no news, another one is.
		list("20")
		again := srv.Expect("GET " + path + "?watch=true&resourceVersion=20").Watch()
		watch.Error(410, "Expired", "too old")
		watch = again
		time.Sleep(2 * time.Second)
		check(1)
		f.want()
		watch.Write([]byte(`{"type":"MODIFIED","object":` + strings.ReplaceAll(broken, "VERSION", "21") + "}\n"))
		check(2)
		f.want("o500@21")
		watch.Send("MODIFIED", object("o500", "22", label("app", "web"), data("keys", "k2")))
		check(2)
		f.want("o500@22")
	})
}

// A function that panics on one object is no reason to stop.
func TestPanicInAnIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect(stream).Watch()
		var errs []error
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{OnError: func(err error) { errs = append(errs, err) }}})
		x := reflector.NewIndex(func(o *cm) []string { return []string{o.OwnerReferences[0].Name} })
		r.Index(x)
		run(t, r)
		send(watch, "10", object("a", "1"), object("b", "2", ownedBy("1")))
		wantStore(t, r, "a@1", "b@2")
		if got := names(x.Lookup(r.Store(), "x")); len(got) != 1 {
			t.Errorf("got %v in the index, want b", got)
		}
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "index out of range") {
			t.Errorf("got %v, want the panic", errs)
		}
	})
}

// An object whose name cannot be read is reported; there is no place for it.
func TestObjectWithoutAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		var errs []error
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{OnError: func(err error) { errs = append(errs, err) }}})
		watch := srv.Expect(stream).Watch()
		watch.Write([]byte(`{"type":"ADDED","object":{"metadata":{"name":7,"resourceVersion":"1"}}}` + "\n"))
		watch.Write([]byte(`{"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}}` + "\n"))
		send(watch, "10", object("a", "1"))
		run(t, r)
		wantStore(t, r, "a@1")
		if len(errs) != 2 {
			t.Errorf("got %v, want two reports", errs)
		}
	})
}
