package kubetest_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
)

var soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak goes on")

// soakKinds are the kinds that the clients of the soak write.
var soakKinds = []resource.DynamicKind{
	resource.Dynamic(resource.Info{Version: "v1", Kind: "ConfigMap"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "Secret"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "ServiceAccount"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "Node"}, resource.ClusterScoped),
}

// theLast is the object that is made when everything else has happened.
const theLast = "the-last"

// write is one change that a client has made.
type write struct {
	kind    string
	uid     types.UID
	version uint64
}

// soak is what the clients have done.
type soak struct {
	t      *testing.T
	server *kubetest.Server

	marks atomic.Int64 // how many marks were applied

	mu         sync.Mutex
	writes     map[write]string  // what the write was
	increments map[types.UID]int // how often the counter of an object was raised
}

func (s *soak) api(kind resource.DynamicKind) kube.API[unstructured.Unstructured] {
	if kind.Descriptor().Scope == resource.ClusterScoped {
		return s.server.Client().All(kind)
	}
	return s.server.Client().Namespaced(kind, "default")
}

// note keeps a change. No two changes have one version.
func (s *soak) note(kind resource.DynamicKind, what string, obj *unstructured.Unstructured) {
	version, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		s.t.Errorf("resource version of %s: %v", obj.GetName(), err)
	}
	w := write{kind.Descriptor().Plural, obj.GetUID(), version}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.writes[w]; ok {
		s.t.Errorf("%s and %s both made version %d of %s", before, what, version, obj.GetName())
	}
	s.writes[w] = what
	if what == "increment" {
		s.increments[obj.GetUID()]++
	}
}

// client does random things until the end.
func (s *soak) client(ctx context.Context, rnd *rand.Rand) error {
	for ctx.Err() == nil {
		kind := soakKinds[rnd.IntN(len(soakKinds))]
		name := fmt.Sprintf("soak-%d", rnd.IntN(8))
		if err := s.step(context.WithoutCancel(ctx), kind, name, rnd.IntN(10)); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Descriptor().Plural, name, err)
		}
	}
	return nil
}

// step does one thing. That somebody else was faster is no failure.
func (s *soak) step(ctx context.Context, kind resource.DynamicKind, name string, choice int) error {
	var err error
	switch choice {
	case 0, 1:
		err = s.create(ctx, kind, name)
	case 2:
		err = s.api(kind).Delete(ctx, name, nil)
	case 3:
		err = s.api(kind).DeleteCollection(ctx, &kube.ListOptions{Fields: "metadata.name=" + name}, nil)
	case 4:
		err = s.list(ctx, kind)
	case 5:
		err = s.apply(ctx, kind, name)
	case 6, 7:
		err = s.increment(ctx, kind, name, s.patch)
	default:
		err = s.increment(ctx, kind, name, s.replace)
	}
	if errors.Is(err, kube.ErrAlreadyExists) || errors.Is(err, kube.ErrConflict) || errors.Is(err, kube.ErrNotFound) {
		return nil
	}
	return err
}

// named returns an object with the annotation key.
func named(kind resource.DynamicKind, name, key, value string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind.Descriptor().GroupVersionKind())
	obj.SetName(name)
	obj.SetAnnotations(map[string]string{key: value})
	return obj
}

func (s *soak) create(ctx context.Context, kind resource.DynamicKind, name string) error {
	created, err := s.api(kind).Create(ctx, named(kind, name, "n", "0"), nil)
	if err == nil {
		s.note(kind, "create", created)
	}
	return err
}

// list checks that a list has nothing newer than itself.
func (s *soak) list(ctx context.Context, kind resource.DynamicKind) error {
	list, err := s.api(kind).List(ctx, &kube.ListOptions{Limit: 3})
	if err != nil {
		return err
	}
	at, err := strconv.ParseUint(list.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	for _, obj := range list.Items {
		if v, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64); err != nil || v > at {
			s.t.Errorf("a list of %s at %d has %s at %s", kind.Descriptor().Plural, at, obj.GetName(), obj.GetResourceVersion())
		}
	}
	return nil
}

// apply has the server change an object that it creates if need be, each time to something new.
func (s *soak) apply(ctx context.Context, kind resource.DynamicKind, name string) error {
	mark := strconv.FormatInt(s.marks.Add(1), 10)
	applied, err := s.api(kind).Apply(ctx, named(kind, name, "mark", mark), "soak", nil)
	if err == nil {
		s.note(kind, "apply", applied)
	}
	return err
}

// increment raises the counter of an object by a write that only succeeds on what was read.
func (s *soak) increment(ctx context.Context, kind resource.DynamicKind, name string,
	write func(ctx context.Context, kind resource.DynamicKind, obj *unstructured.Unstructured, n string) (*unstructured.Unstructured, error)) error {
	obj, ok, err := s.api(kind).Lookup(ctx, name)
	if err != nil || !ok {
		return err
	}
	n, err := strconv.Atoi(counter(obj))
	if err != nil {
		return err
	}
	updated, err := write(ctx, kind, obj, strconv.Itoa(n+1))
	if err == nil {
		s.note(kind, "increment", updated)
	}
	return err
}

// counter returns the counter of an object. One that was made by an apply has none at first.
func counter(obj *unstructured.Unstructured) string { return cmp.Or(obj.GetAnnotations()["n"], "0") }

func (s *soak) replace(ctx context.Context, kind resource.DynamicKind, obj *unstructured.Unstructured, n string) (*unstructured.Unstructured, error) {
	annotations := obj.GetAnnotations()
	annotations["n"] = n
	obj.SetAnnotations(annotations)
	return s.api(kind).Replace(ctx, obj, nil)
}

func (s *soak) patch(ctx context.Context, kind resource.DynamicKind, obj *unstructured.Unstructured, n string) (*unstructured.Unstructured, error) {
	return s.api(kind).Patch(ctx, obj.GetName(), kube.MergePatch(map[string]any{"metadata": map[string]any{
		"resourceVersion": obj.GetResourceVersion(), "uid": obj.GetUID(), "annotations": map[string]any{"n": n},
	}}), nil)
}

// seen is one event of a watch.
type seen struct {
	Type    string
	Name    string
	UID     types.UID
	Version uint64
	Counter string
}

// watch collects the events of a kind up to that of its last object.
func (s *soak) watch(ctx context.Context, kind resource.DynamicKind, from string) ([]seen, error) {
	var events []seen
	for ev, err := range s.api(kind).Watch(ctx, &kube.WatchOptions{ResourceVersion: from}) {
		if err != nil {
			return events, err
		}
		if ev.Type == kube.Bookmark {
			continue
		}
		obj, err := ev.Object.Decode()
		if err != nil {
			return events, err
		}
		version, err := strconv.ParseUint(ev.ResourceVersion, 10, 64)
		if err != nil {
			return events, err
		}
		events = append(events, seen{ev.Type.String(), obj.GetName(), obj.GetUID(), version, counter(obj)})
		if obj.GetName() == theLast {
			return events, nil
		}
	}
	return events, errors.New("the watch ended")
}

// TestSoak lets many clients do random things, and then checks that versions rise, that no
// update was lost, and that watches saw what has happened, all of it and nothing else.
func TestSoak(t *testing.T) {
	srv := kubetest.Start(t, nil)
	s := &soak{t: t, server: srv, writes: map[write]string{}, increments: map[types.UID]int{}}
	const clients, watchers = 50, 3
	histories := make([][watchers][]seen, len(soakKinds))
	var watching, working sync.WaitGroup
	for i, kind := range soakKinds {
		list, err := s.api(kind).List(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for j := range watchers {
			watching.Go(func() {
				events, err := s.watch(t.Context(), kind, list.ResourceVersion)
				if err != nil {
					t.Errorf("watch %s: %v", kind.Descriptor().Plural, err)
				}
				histories[i][j] = events
			})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime)
	defer cancel()
	for n := range clients {
		working.Go(func() {
			if err := s.client(ctx, rand.New(rand.NewPCG(1, uint64(n)))); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	for _, kind := range soakKinds {
		if _, err := s.api(kind).Create(t.Context(), named(kind, theLast, "n", "0"), nil); err != nil {
			t.Fatal(err)
		}
	}
	watching.Wait()
	for i, kind := range soakKinds {
		for j := 1; j < watchers; j++ {
			if !slices.Equal(histories[i][0], histories[i][j]) {
				t.Errorf("two watches of %s saw different things:\n%s", kind.Descriptor().Plural, diff.Diff(histories[i][0], histories[i][j]))
			}
		}
		s.check(kind, histories[i][0])
	}
	t.Logf("%d writes in %s", len(s.writes), *soakTime)
}

// check compares the history of a kind with what the clients did and with what there is now.
func (s *soak) check(kind resource.DynamicKind, history []seen) {
	plural := kind.Descriptor().Plural
	now := map[string]seen{}
	last, told := uint64(0), 0
	for _, ev := range history {
		if ev.Version <= last {
			s.t.Errorf("%s: version %d comes after %d", plural, ev.Version, last)
		}
		last = ev.Version
		before, existed := now[ev.Name]
		if existed != (ev.Type != "ADDED") || existed && before.UID != ev.UID {
			s.t.Errorf("%s: %+v after %+v", plural, ev, before)
		}
		now[ev.Name] = ev
		if ev.Type == "DELETED" {
			delete(now, ev.Name)
			if want := s.increments[ev.UID]; ev.Counter != strconv.Itoa(want) {
				s.t.Errorf("%s: %s was deleted with counter %s, and raised %d times", plural, ev.Name, ev.Counter, want)
			}
			continue
		}
		if _, ok := s.writes[write{plural, ev.UID, ev.Version}]; ok {
			told++
		} else if ev.Name != theLast {
			s.t.Errorf("%s: nobody made %+v", plural, ev)
		}
	}
	for w, what := range s.writes {
		if w.kind == plural {
			told--
			if w.version > last {
				s.t.Errorf("%s: nobody saw the %s of version %d", plural, what, w.version)
			}
		}
	}
	if told != 0 {
		s.t.Errorf("%s: the watches saw %+d writes too many", plural, told)
	}
	s.checkNow(kind, now)
}

// checkNow compares what the history has led to with a list.
func (s *soak) checkNow(kind resource.DynamicKind, now map[string]seen) {
	list, err := s.api(kind).List(context.Background(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, obj := range list.Items {
		ev, ok := now[obj.GetName()]
		if !ok || ev.UID != obj.GetUID() || strconv.FormatUint(ev.Version, 10) != obj.GetResourceVersion() {
			s.t.Errorf("%s: there is %s at %s, and the last event was %+v", kind.Descriptor().Plural, obj.GetName(), obj.GetResourceVersion(), ev)
		}
		if n := counter(obj); n != strconv.Itoa(s.increments[obj.GetUID()]) {
			s.t.Errorf("%s: %s has counter %s, and was raised %d times", kind.Descriptor().Plural, obj.GetName(), n, s.increments[obj.GetUID()])
		}
		delete(now, obj.GetName())
	}
	for name := range now {
		s.t.Errorf("%s: %s is missing from the list", kind.Descriptor().Plural, name)
	}
}
