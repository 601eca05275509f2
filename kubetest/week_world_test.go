package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// The kind of the week that comes and goes.
type (
	gizmoSpec struct {
		Size int `json:"size"`
	}
	gizmoStatus struct {
		Seen int `json:"seen"`
	}
	gizmo = resource.Object[gizmoSpec, gizmoStatus]
)

var gizmos = resource.DefineNamespaced[gizmo](resource.Info{Group: "week.example.com", Version: "v1", Kind: "Gizmo"})

const gizmoDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.week.example.com}
spec:
  group: week.example.com
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status: {type: object, properties: {seen: {type: integer}}}
`

const (
	weekNames     = 12 // of objects of a kind in a namespace
	weekResync    = 6 * time.Hour
	weekCensus    = "week.example.com/maps" // the annotation of a namespace
	weekFinalizer = "week.example.com/external"
	managed       = "week" // the label of what the operator looks after
)

var weekNamespaces = []string{"north", "east", "south", "west"}

// operator is a program with five controllers, which share caches.
type operator struct {
	client *kube.Client
	// Of the related kinds, the stores are shared by hand.
	secrets *reflector.Reflector[corev1.Secret]
	maps    *reflector.Reflector[corev1.ConfigMap]
	byPlace *reflector.Index[corev1.ConfigMap]

	copies  *controller.Applier[corev1.Secret]
	running []operated

	mu       sync.Mutex
	external map[types.UID]int    // what the gizmos have outside of the cluster
	seen     map[string]seenState // what the auditors saw last, by controller and key
}

// operated is a controller, whatever its kind.
type operated interface {
	Run(ctx context.Context) error
	Ready() error
	Stats() controller.Stats
}

// seenState is the last run of a key.
type seenState struct {
	version string
	at      time.Time
}

func newOperator(client *kube.Client) *operator {
	o := &operator{client: client, external: map[types.UID]int{}, seen: map[string]seenState{}, byPlace: reflector.ByNamespace[corev1.ConfigMap]()}
	o.secrets = reflector.New(client.All(core.Secrets), nil)
	o.maps = reflector.New(client.All(core.ConfigMaps), &reflector.Options{Watch: watcher.Options{Labels: managed}})
	o.maps.Index(o.byPlace)
	o.copies = controller.NewApplier(client.All(core.Secrets), o.secrets.Store(), "week", nil)

	// While the cache does not show yet that a config map is gone, a copy of it is made, deleted as
	// garbage, and made again: how often, the debounce decides.
	copier := controller.New(client.All(core.ConfigMaps), o.copy, &controller.Options{Name: "copier", Watch: watcher.Options{Labels: managed}, Debounce: time.Second})
	copier.OwnsFrom(o.secrets)
	counter := controller.New(client.All(gizmos), controller.Finalize(client.All(gizmos), weekFinalizer, o.count, o.discount), &controller.Options{Name: "counter"})
	census := controller.New(client.All(core.Namespaces), o.census, &controller.Options{Name: "census"})
	census.WatchesFrom(o.maps, func(cm *corev1.ConfigMap) []resource.Ref[corev1.Namespace] {
		return []resource.Ref[corev1.Namespace]{{Name: cm.Namespace}}
	})
	resynced := controller.New(client.All(core.ConfigMaps), func(_ context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
		o.note("resynced", cm)
		return controller.Await(), nil
	}, &controller.Options{Name: "resynced", Watch: watcher.Options{Labels: managed}, Resync: weekResync})
	owner := controller.New(client.All(gizmos), func(_ context.Context, g *gizmo) (controller.Action, error) {
		o.note("owner", g)
		return controller.Await(), nil
	}, &controller.Options{Name: "owner", Debounce: 10 * time.Second})
	owner.Owns(client.All(core.ConfigMaps))
	o.running = []operated{copier, counter, census, resynced, owner}
	return o
}

// run runs all of it until ctx ends.
func (o *operator) run(ctx context.Context) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var problems []error
	for _, r := range append(slices.Clone(o.running), operatedReflector{o.secrets}, operatedReflector{o.maps}) {
		all.Go(func() {
			err := r.Run(ctx)
			mu.Lock()
			defer mu.Unlock()
			problems = append(problems, err)
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

// operatedReflector runs a reflector beside controllers.
type operatedReflector struct{ runner }

type runner interface {
	Run(ctx context.Context) error
}

func (operatedReflector) Ready() error            { return nil }
func (operatedReflector) Stats() controller.Stats { return controller.Stats{} }

func (o *operator) note(who string, obj metav1.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[who+" "+obj.GetNamespace()+"/"+obj.GetName()] = seenState{obj.GetResourceVersion(), time.Now()}
}

// copy has a secret say what a config map does.
func (o *operator) copy(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
	if cm.DeletionTimestamp != nil {
		return controller.Await(), nil
	}
	_, err := o.copies.Apply(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name, OwnerReferences: []metav1.OwnerReference{core.ConfigMaps.ControllerOwner(cm)}},
		Data:       map[string][]byte{"v": []byte(cm.Data["v"])},
	})
	return controller.Await(), gone(err)
}

// count says in the status which size was seen, and outside how large all are.
func (o *operator) count(ctx context.Context, g *gizmo) (controller.Action, error) {
	o.mu.Lock()
	o.external[g.UID] = g.Spec.Size
	o.mu.Unlock()
	if g.Status != nil && g.Status.Seen == g.Spec.Size {
		return controller.Await(), nil
	}
	g.Status = &gizmoStatus{Seen: g.Spec.Size}
	_, err := o.client.Namespaced(gizmos, g.Namespace).Status().Replace(ctx, g, nil)
	return controller.Await(), gone(err)
}

func (o *operator) discount(_ context.Context, g *gizmo) (controller.Action, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.external, g.UID)
	return controller.Await(), nil
}

// census writes to a namespace how many config maps it has.
func (o *operator) census(ctx context.Context, ns *corev1.Namespace) (controller.Action, error) {
	if ns.DeletionTimestamp != nil {
		return controller.Await(), nil
	}
	if !o.maps.Store().Ready() {
		return controller.After(time.Second), nil
	}
	n := 0
	for range o.byPlace.Lookup(o.maps.Store(), ns.Name) {
		n++
	}
	want := strconv.Itoa(n)
	if ns.Annotations[weekCensus] == want {
		return controller.Await(), nil
	}
	_, err := o.client.All(core.Namespaces).Patch(ctx, ns.Name, kube.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{weekCensus: want}}}), nil)
	return controller.Await(), gone(err)
}

// gone is nil for what says that the object, or its namespace, is not there any more.
func gone(err error) error {
	if errors.Is(err, kube.ErrNotFound) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// user changes things at random, and bears that nothing works at times.
type user struct {
	client *kube.Client
	random *rand.Rand
	done   map[string]int // what worked, by what it was
}

// work does something every now and then, until a time.
func (u *user) work(ctx context.Context, until time.Time) {
	for time.Until(until) > 0 {
		place, name := pick(u.random, weekNamespaces), fmt.Sprint("n", u.random.IntN(weekNames))
		what, do := u.step(place, name)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		if do(ctx) == nil {
			u.done[what]++
		}
		cancel()
		time.Sleep(time.Duration(u.random.Int64N(int64(2 * time.Minute))))
	}
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// step returns something to do.
func (u *user) step(place, name string) (what string, do func(ctx context.Context) error) {
	cms, gs, secrets := u.client.Namespaced(core.ConfigMaps, place), u.client.Namespaced(gizmos, place), u.client.Namespaced(core.Secrets, place)
	n := u.random.IntN(1000)
	switch u.random.IntN(40) {
	case 0:
		return "delete namespace", func(ctx context.Context) error { return u.client.All(core.Namespaces).Delete(ctx, place, nil) }
	case 1, 2, 3:
		return "create namespace", func(ctx context.Context) error { return u.place(ctx, place, n) }
	case 4:
		return "delete config maps", func(ctx context.Context) error {
			return cms.DeleteCollection(ctx, &kube.ListOptions{Labels: "tier=gold"}, nil)
		}
	case 5, 6:
		return "delete secret", func(ctx context.Context) error { return secrets.Delete(ctx, name, nil) }
	case 7, 8:
		return "change secret", func(ctx context.Context) error {
			_, err := secrets.Patch(ctx, name, kube.MergePatch(map[string]any{"data": map[string]any{"v": []byte("tampered")}}), nil)
			return err
		}
	case 9, 10, 11:
		return "delete config map", func(ctx context.Context) error { return cms.Delete(ctx, name, nil) }
	case 12, 13, 14:
		return "delete gizmo", func(ctx context.Context) error { return gs.Delete(ctx, name, nil) }
	case 15, 16, 17, 18, 19, 20, 21, 22, 23:
		return "apply gizmo", func(ctx context.Context) error {
			_, err := gs.Apply(ctx, &gizmo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gizmoSpec{Size: n}}, "user", nil)
			return err
		}
	}
	return "apply config map", func(ctx context.Context) error {
		labels := map[string]string{}
		if n%5 > 0 {
			labels[managed] = "yes"
		}
		if n%3 == 0 {
			labels["tier"] = "gold"
		}
		_, err := cms.Apply(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"v": strconv.Itoa(n)}}, "user", nil)
		return err
	}
}

// place makes a namespace, or changes whether it is one of those that are selected.
func (u *user) place(ctx context.Context, name string, n int) error {
	labels := map[string]string{"side": "dark"}
	if n%2 == 0 {
		labels["side"] = "light"
	}
	_, err := u.client.All(core.Namespaces).Apply(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, "user", nil)
	return err
}

// summary says what worked.
func (u *user) summary() (all int, text string) {
	for _, what := range slices.Sorted(maps.Keys(u.done)) {
		all += u.done[what]
		text += fmt.Sprintf(" %s: %d;", what, u.done[what])
	}
	return all, text
}
