package kubetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

var (
	weekTime = flag.Duration("week", 7*24*time.Hour, "how long TestWeek goes on, in its own time")
	weekSeed = flag.Uint64("weekseed", 1, "what the troubles of TestWeek depend on; 0 takes one at random")
)

const (
	rageTime = 5 * time.Hour // in which things go wrong
	restTime = time.Hour     // in which they settle
	calmTime = 15 * time.Minute

	// weekWatches is how many watches there are at most: 6 of the operator, and of the stores 5 with one,
	// one with one for each of 4 namespaces, and one with that and a watch of the namespaces.
	weekWatches = 6 + 5 + 4 + 5
	// A watch makes no more requests than these: to be opened anew whenever its 290 s are over; for each
	// trouble, until its connection is well again or a list is complete; and in an hour of nothing but
	// troubles, in which the delays grow to between 30 and 60 s, and a try is a list and a watch.
	readsPerHour    = 13
	readsPerTrouble = 5
	readsAtWorst    = 130
	// readsInCalm is how often a watch is opened in a quarter of an hour in which nothing happens:
	// each lasts 290 s.
	readsInCalm = 4
	// The two watches of a kind that is not there look for it every 5 to 20 s meanwhile.
	looksInCalm = 2 * 15 * 12
)

// week is a world with an operator in it, and what follows it.
type week struct {
	t        *testing.T
	server   *kubetest.Server
	operator *operator
	troubles *troubles
	user     *user
	stores   []*stored
	resting  atomic.Bool
	defined  bool // the custom kind is there while things rest

	mu            sync.Mutex
	reads, writes int
	hours         map[int]int // reads by hour
	began         time.Time
}

// TestWeek is a week of an operator and of several stores beside it, in which servers restart,
// connections break, versions expire, kinds and namespaces go and come back. After every five
// hours of this there is an hour of rest, after which everything has to be as it should be; in every
// fourth one the custom kind is gone.
//
// The troubles depend on a seed: -weekseed=7 has others, -weekseed=0 such as nobody had before,
// and -week=720h makes it a month.
func TestWeek(t *testing.T) {
	seed := *weekSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	start := time.Now()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to see this again: go test -run TestWeek -week=%s -weekseed=%d", *weekTime, seed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWeek(t, seed)
		for n := 1; time.Since(w.began) < *weekTime; n++ {
			w.defined = n%4 != 0
			w.rage()
			w.rest(n)
			if t.Failed() {
				break
			}
		}
		w.report()
	})
	t.Logf("seed %d: %s took %s", seed, *weekTime, time.Since(start).Round(time.Millisecond))
}

func newWeek(t *testing.T, seed uint64) *week {
	w := &week{t: t, hours: map[int]int{}, began: time.Now()}
	w.server = kubetest.Start(t, &kubetest.Options{YAML: gizmoDefinition})
	cfg := w.server.Config()
	cfg.Wrap = append(cfg.Wrap, func(next http.RoundTripper) http.RoundTripper { return counted{w, next} })
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w.operator = newOperator(client)
	w.server.Go(w.operator.run)

	set := reflector.NewNamespaceSet(weekNamespaces[:2]...)
	w.troubles = &troubles{t: t, server: w.server, admin: w.server.Client(), random: rand.New(rand.NewPCG(seed, 1)), set: set}
	w.user = &user{client: w.server.Client(), random: rand.New(rand.NewPCG(seed, 2)), done: map[string]int{}}
	random := rand.New(rand.NewPCG(seed, 3))
	everywhere := func(context.Context) (func(string) bool, error) { return func(string) bool { return true }, nil }
	store(w, client, random, "config maps", core.ConfigMaps, reflector.Options{}, everywhere)
	store(w, client, random, "golden config maps", core.ConfigMaps, reflector.Options{Watch: watcher.Options{Labels: "tier=gold"}}, everywhere)
	store(w, client, random, "metadata of secrets", core.Secrets.Metadata(), reflector.Options{Watch: watcher.Options{InitialList: watcher.ListWatch, PageSize: 7}}, everywhere)
	store(w, client, random, "gizmos", resource.Dynamic(gizmos.Descriptor().Info, resource.NamespaceScoped), reflector.Options{Decoded: true}, everywhere)
	store(w, client, random, "namespaces", core.Namespaces, reflector.Options{}, everywhere)
	store(w, client, random, "config maps of a set of namespaces", core.ConfigMaps, reflector.Options{Namespaces: set}, func(context.Context) (func(string) bool, error) {
		names := strings.Join(set.Names(), " ")
		return func(place string) bool { return strings.Contains(names, place) }, nil
	})
	store(w, client, random, "secrets of the light side", core.Secrets, reflector.Options{Namespaces: reflector.SelectNamespaces(client, "side=light")}, w.light)
	return w
}

// light tells which namespaces are selected.
func (w *week) light(ctx context.Context) (func(string) bool, error) {
	list, err := w.server.Client().All(core.Namespaces).List(ctx, &kube.ListOptions{Labels: "side=light"})
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, ns := range list.Items {
		names[ns.Name] = true
	}
	return func(place string) bool { return names[place] }, nil
}

// latency is how long a request takes at least. Where none takes any time, a program that is quick
// enough can keep time from passing.
const latency = 10 * time.Millisecond

// counted counts the requests of the operator and the stores, and has them take time.
type counted struct {
	week *week
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c counted) RoundTrip(req *http.Request) (*http.Response, error) {
	w := c.week
	w.mu.Lock()
	if req.Method == http.MethodGet {
		w.reads++
		w.hours[int(time.Since(w.began)/time.Hour)]++
	} else {
		w.writes++
	}
	w.mu.Unlock()
	time.Sleep(latency)
	return c.next.RoundTrip(req)
}

func (w *week) requests() (reads, writes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads, w.writes
}

// rage has the user work while things go wrong.
func (w *week) rage() {
	w.resting.Store(false)
	until := time.Now().Add(rageTime)
	var all sync.WaitGroup
	all.Go(func() { w.user.work(w.t.Context(), until) })
	all.Go(func() { w.troubles.rage(w.t.Context(), until, w.defined) })
	all.Wait()
}

// rest lets things settle, and checks that they have.
func (w *week) rest(n int) {
	w.resting.Store(true)
	time.Sleep(restTime - calmTime)
	reads, writes := w.requests()
	time.Sleep(calmTime)
	synctest.Wait()
	readsAfter, writesAfter := w.requests()
	problems := &report{}
	problems.addf(writesAfter != writes, "the operator has written %d times while nothing happened", writesAfter-writes)
	bound := weekWatches * readsInCalm
	if !w.defined {
		bound += looksInCalm
	}
	problems.addf(readsAfter-reads > bound, "%d requests of %d watches while nothing happened, want %d at most", readsAfter-reads, weekWatches, bound)
	for _, s := range w.stores {
		problems.add(s.check(w.t.Context(), w.defined))
	}
	w.checkOperator(problems)
	if len(problems.lines) > 0 {
		w.t.Errorf("after rest %d, %s after the beginning:\n%s", n, time.Since(w.began), strings.Join(problems.lines, "\n"))
	}
}

// report collects what is wrong.
type report struct{ lines []string }

func (r *report) add(line string) {
	if line != "" {
		r.lines = append(r.lines, line)
	}
}

func (r *report) addf(wrong bool, format string, args ...any) {
	if wrong {
		r.add(fmt.Sprintf(format, args...))
	}
}

// report says what the week was like, and checks how much it cost.
func (w *week) report() {
	busiest := 0
	for _, reads := range w.hours {
		busiest = max(busiest, reads)
	}
	changes, text := w.user.summary()
	w.t.Logf("%d troubles; %d changes:%s", w.troubles.count, changes, text)
	w.t.Logf("%d requests of watches, %d in the busiest hour; %d writes", w.reads, busiest, w.writes)
	if busiest > weekWatches*readsAtWorst {
		w.t.Errorf("%d requests of %d watches in an hour, want %d of each at most", busiest, weekWatches, readsAtWorst)
	}
	bound := weekWatches * (readsPerHour*(int(time.Since(w.began)/time.Hour)+1) + readsPerTrouble*w.troubles.count)
	if w.reads > bound {
		w.t.Errorf("%d requests of %d watches, want %d at most", w.reads, weekWatches, bound)
	}
	// A change of the user's is a copy, a status and a count at most; a trouble is no reason to
	// write, but can be one to write again.
	if bound := 3*changes + 20*w.troubles.count; w.writes > bound || w.writes == 0 {
		w.t.Errorf("%d writes of the operator, want %d at most", w.writes, bound)
	}
	if changes < int(time.Since(w.began)/time.Hour)*10 {
		w.t.Errorf("the user has changed too little: %d times", changes)
	}
	for _, r := range w.operator.running {
		w.t.Logf("%+v", r.Stats())
	}
}

// stored is a store, those who follow it, and what it should have.
type stored struct {
	name      string
	state     func() watcher.State
	now       func() map[string]string
	want      func(ctx context.Context) (map[string]string, error)
	followers []*knowing
}

// knowing is what somebody knows who follows a store.
type knowing struct {
	mu    sync.Mutex
	known map[string]string
}

// store has the world have one more store, and two who follow it, one of whom is slow.
func store[K any](w *week, client *kube.Client, random *rand.Rand, name string, kind resource.Kind[K], opts reflector.Options, places func(ctx context.Context) (func(string) bool, error)) {
	r := reflector.New(client.All(kind), &opts)
	s := &stored{name: name, state: r.State}
	s.now = func() map[string]string {
		all := map[string]string{}
		for lazy := range r.Store().All() {
			all[lazy.Namespace()+"/"+lazy.Name()] = lazy.ResourceVersion()
		}
		return all
	}
	s.want = func(ctx context.Context) (map[string]string, error) {
		in, err := places(ctx)
		if err != nil {
			return nil, err
		}
		all := map[string]string{}
		_, err = w.server.Client().All(kind).Endpoint().ListPage(ctx, &kube.ListOptions{Labels: opts.Watch.Labels}, func(raw *resource.Raw) error {
			if in(raw.Namespace()) {
				all[raw.Namespace()+"/"+raw.Name()] = raw.ResourceVersion()
			}
			return nil
		})
		return all, err
	}
	w.server.Go(r.Run)
	for _, slow := range []time.Duration{0, 20 * time.Minute} {
		k := &knowing{known: map[string]string{}}
		s.followers = append(s.followers, k)
		pauses := rand.New(rand.NewPCG(random.Uint64(), 0))
		w.server.Go(func(ctx context.Context) error {
			for change := range r.Changes(ctx) {
				k.take(change.Object.Namespace()+"/"+change.Object.Name(), change.Object.ResourceVersion(), change.Deleted)
				if slow > 0 && !w.resting.Load() {
					time.Sleep(time.Duration(pauses.Int64N(int64(slow))))
				}
			}
			return nil
		})
	}
	w.stores = append(w.stores, s)
}

func (k *knowing) take(key, version string, deleted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[key] = version; deleted {
		delete(k.known, key)
	}
}

// check returns what is wrong with the store and with those who follow it.
func (s *stored) check(ctx context.Context, defined bool) string {
	want, err := s.want(ctx)
	phase, healthy := watcher.Watching, true
	if s.name == "gizmos" && !defined && errors.Is(err, kube.ErrNotFound) {
		want, err = map[string]string{}, nil
		phase, healthy = watcher.WaitingForKind, false
	}
	if err != nil {
		return fmt.Sprintf("list of %s: %v", s.name, err)
	}
	var problems report
	if state := s.state(); healthy != (state.LastError == nil) || state.Phase != phase {
		problems.add(fmt.Sprintf("watch of %s: %+v", s.name, state))
	}
	if diff := cmp.Diff(want, s.now()); diff != "" {
		problems.add(fmt.Sprintf("store of %s (-server +store):\n%s", s.name, diff))
	}
	for i, k := range s.followers {
		k.mu.Lock()
		if diff := cmp.Diff(want, k.known); diff != "" {
			problems.add(fmt.Sprintf("follower %d of %s (-server +known):\n%s", i, s.name, diff))
		}
		k.mu.Unlock()
	}
	return strings.Join(problems.lines, "\n")
}

// checkOperator finds what is not as the controllers should have made it.
func (w *week) checkOperator(problems *report) {
	ctx, client := w.t.Context(), w.server.Client()
	maps, err1 := client.All(core.ConfigMaps).List(ctx, nil)
	secrets, err2 := client.All(core.Secrets).List(ctx, nil)
	made, err3 := client.All(gizmos).List(ctx, nil)
	places, err4 := client.All(core.Namespaces).List(ctx, nil)
	if !w.defined && errors.Is(err3, kube.ErrNotFound) {
		made, err3 = &kube.List[gizmo]{}, nil
	}
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			problems.add(err.Error())
			return
		}
	}
	for _, r := range w.operator.running {
		if err := r.Ready(); err != nil && (w.defined || !strings.Contains(err.Error(), "gizmos.week.example.com")) {
			problems.add(err.Error())
		}
		stats := r.Stats()
		problems.addf(stats.Due+stats.Running+stats.Parked+stats.Looping > 0, "there is something left to do: %+v", stats)
	}
	w.checkCopies(problems, maps.Items, secrets.Items)
	w.checkGizmos(problems, made.Items)
	count := map[string]int{}
	for _, cm := range maps.Items {
		if _, ok := cm.Labels[managed]; ok {
			count[cm.Namespace]++
		}
	}
	for _, ns := range places.Items {
		problems.addf(ns.Annotations[weekCensus] != strconv.Itoa(count[ns.Name]), "namespace %s says %q, want %d config maps", ns.Name, ns.Annotations[weekCensus], count[ns.Name])
		problems.addf(ns.DeletionTimestamp != nil, "namespace %s is still being deleted", ns.Name)
	}
}

func (w *week) checkCopies(problems *report, maps []*corev1.ConfigMap, secrets []*corev1.Secret) {
	copies := map[string]*corev1.Secret{}
	for _, s := range secrets {
		copies[s.Namespace+"/"+s.Name] = s
	}
	for _, cm := range maps {
		key := cm.Namespace + "/" + cm.Name
		s := copies[key]
		delete(copies, key)
		if _, ok := cm.Labels[managed]; !ok {
			continue
		}
		w.checkSeen(problems, "resynced", cm)
		problems.addf(s == nil || string(s.Data["v"]) != cm.Data["v"] || s.OwnerReferences[0].UID != cm.UID, "secret %s is %v, want a copy of %v", key, s, cm)
	}
	for key := range copies {
		problems.addf(true, "secret %s has no config map", key)
	}
}

func (w *week) checkGizmos(problems *report, made []*gizmo) {
	w.operator.mu.Lock()
	external := len(w.operator.external)
	w.operator.mu.Unlock()
	problems.addf(external != len(made), "%d gizmos outside of the cluster, want %d", external, len(made))
	for _, g := range made {
		w.checkSeen(problems, "owner", g)
		w.operator.mu.Lock()
		size, ok := w.operator.external[g.UID]
		w.operator.mu.Unlock()
		problems.addf(!ok || size != g.Spec.Size || g.Status == nil || g.Status.Seen != size, "gizmo %s/%s is %+v %+v, and %d outside", g.Namespace, g.Name, g.Spec, g.Status, size)
	}
}

// checkSeen finds a key that starves: one whose last state was not seen, or that was not looked at for
// too long.
func (w *week) checkSeen(problems *report, who string, obj metav1.Object) {
	w.operator.mu.Lock()
	seen := w.operator.seen[who+" "+obj.GetNamespace()+"/"+obj.GetName()]
	w.operator.mu.Unlock()
	problems.addf(seen.version != obj.GetResourceVersion(), "controller %s has seen %s/%s at version %q, want %s", who, obj.GetNamespace(), obj.GetName(), seen.version, obj.GetResourceVersion())
	problems.addf(who == "resynced" && time.Since(seen.at) > weekResync*11/10, "controller %s has not looked at %s/%s for %s", who, obj.GetNamespace(), obj.GetName(), time.Since(seen.at))
}
