package kubetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
)

var soakTime = flag.Duration("soak", time.Second, "how long TestSoak goes on")

// soakKinds are the kinds that the clients of the soak write.
var soakKinds = []resource.DynamicKind{
	resource.Dynamic(resource.Info{Version: "v1", Kind: "ConfigMap"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "Secret"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "ServiceAccount"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, resource.NamespaceScoped),
	resource.Dynamic(resource.Info{Version: "v1", Kind: "Node"}, resource.ClusterScoped),
}

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

func (s *soak) step(ctx context.Context, kind resource.DynamicKind, name string, choice int) error {
	api := s.api(kind)
	switch choice {
	case 0, 1:
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(kind.Descriptor().GroupVersionKind())
		obj.SetName(name)
		obj.SetAnnotations(map[string]string{"n": "0"})
		created, err := api.Create(ctx, obj, nil)
		if errors.Is(err, kube.ErrAlreadyExists) {
			return nil
		}
		if err == nil {
			s.note(kind, "create", created)
		}
		return err
	case 2:
		err := api.Delete(ctx, name, nil)
		if errors.Is(err, kube.ErrNotFound) {
			return nil
		}
		return err
	case 3:
		_, err := api.List(ctx, &kube.ListOptions{Limit: 3})
		return err
	case 4:
		_, _, err := api.Lookup(ctx, name)
		return err
	}
	return s.increment(ctx, kind, name)
}

// increment raises the counter of an object by an update of what it was.
func (s *soak) increment(ctx context.Context, kind resource.DynamicKind, name string) error {
	api := s.api(kind)
	obj, ok, err := api.Lookup(ctx, name)
	if err != nil || !ok {
		return err
	}
	n, err := strconv.Atoi(obj.GetAnnotations()["n"])
	if err != nil {
		return err
	}
	obj.SetAnnotations(map[string]string{"n": strconv.Itoa(n + 1)})
	updated, err := api.Replace(ctx, obj, nil)
	if errors.Is(err, kube.ErrConflict) || errors.Is(err, kube.ErrNotFound) {
		return nil
	}
	if err == nil {
		s.note(kind, "increment", updated)
	}
	return err
}

// seen is one event of a watch.
type seen struct {
	Type    string
	Name    string
	UID     types.UID
	Version uint64
	Counter string
}

// watch collects the events of a kind until done ends, and what has happened until then has come.
func (s *soak) watch(ctx context.Context, kind resource.DynamicKind, from string, last func() string) ([]seen, error) {
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
		events = append(events, seen{ev.Type.String(), obj.GetName(), obj.GetUID(), version, obj.GetAnnotations()["n"]})
		if obj.GetName() == last() {
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
				events, err := s.watch(t.Context(), kind, list.ResourceVersion, func() string { return "the-last" })
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
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(kind.Descriptor().GroupVersionKind())
		obj.SetName("the-last")
		if _, err := s.api(kind).Create(t.Context(), obj, nil); err != nil {
			t.Fatal(err)
		}
	}
	watching.Wait()
	for i, kind := range soakKinds {
		for j := 1; j < watchers; j++ {
			if diff := cmp.Diff(histories[i][0], histories[i][j]); diff != "" {
				t.Errorf("two watches of %s saw different things:\n%s", kind.Descriptor().Plural, diff)
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
		} else if ev.Name != "the-last" {
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
		if n := obj.GetAnnotations()["n"]; obj.GetName() != "the-last" && n != strconv.Itoa(s.increments[obj.GetUID()]) {
			s.t.Errorf("%s: %s has counter %s, and was raised %d times", kind.Descriptor().Plural, obj.GetName(), n, s.increments[obj.GetUID()])
		}
		delete(now, obj.GetName())
	}
	for name := range now {
		s.t.Errorf("%s: %s is missing from the list", kind.Descriptor().Plural, name)
	}
}
