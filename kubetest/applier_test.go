package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/runtime/reflector"
)

// Whatever happens to the objects, and however late the cache hears of it: an apply is left out only
// where the object, as the cache has it, is what is wanted, and when nothing changes any more, the
// server has what is wanted and gets no more requests.
func TestAnApplierLeavesOutOnlyWhatIsTrue(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newApplierWorld(t, rand.New(rand.NewPCG(seed, 17)))
				for range 500 {
					w.step()
				}
				w.settle()
			})
		})
	}
}

// applierWorld has an applier of config maps, others who change them too, and a cache that lags.
type applierWorld struct {
	t       *testing.T
	random  *rand.Rand
	api     kube.API[corev1.ConfigMap]
	store   reflector.Store[corev1.ConfigMap]
	applier *controller.Applier[corev1.ConfigMap]
	want    map[string]string
	lag     func(time.Duration)
}

func newApplierWorld(t *testing.T, random *rand.Rand) *applierWorld {
	srv := kubetest.Start(t, nil)
	r := reflector.New(srv.Client().Namespaced(core.ConfigMaps, "default"), nil)
	srv.Go(r.Run)
	if err := r.Store().WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &applierWorld{t: t, random: random, api: srv.Client().Namespaced(core.ConfigMaps, "default"), store: r.Store(), want: map[string]string{}}
	w.applier = controller.NewApplier(w.api, w.store, "test", nil)
	var fault *kubetest.Fault
	w.lag = func(d time.Duration) {
		if fault != nil {
			fault.Remove()
		}
		fault = srv.Fault(kubetest.Match{Resource: "configmaps"}, kubetest.DelayEvents(d))
	}
	return w
}

// step does something at random. That there is no such object is no failure of the others.
func (w *applierWorld) step() {
	name, value := fmt.Sprint("m", w.random.IntN(4)), strconv.Itoa(w.random.IntN(3))
	var err error
	switch w.random.IntN(14) {
	case 0:
		err = w.api.Delete(w.t.Context(), name, nil)
	case 1:
		_, err = w.api.Patch(w.t.Context(), name, kube.MergePatch(map[string]any{"data": map[string]any{"v": value}}), nil)
	case 2:
		_, err = w.api.Patch(w.t.Context(), name, kube.MergePatch(map[string]any{"data": map[string]any{"other": value}}), nil)
	case 3, 4:
		w.want[name] = value
		w.apply(name)
	case 5, 6, 7, 8, 9:
		w.apply(name)
	case 10:
		w.lag(time.Duration(w.random.IntN(int(500 * time.Millisecond))))
	default:
		time.Sleep(time.Duration(w.random.IntN(int(2 * time.Second))))
		synctest.Wait()
	}
	if err != nil && !errors.Is(err, kube.ErrNotFound) {
		w.t.Fatal(err)
	}
}

// apply applies what is wanted of an object, and looks at what came of it.
func (w *applierWorld) apply(name string) {
	w.t.Helper()
	value, ok := w.want[name]
	if !ok {
		return
	}
	before := w.applier.Stats()
	cached, missing := w.store.Get(resource.Ref[corev1.ConfigMap]{Namespace: "default", Name: name})
	got, err := w.applier.Apply(w.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"v": value}})
	if err != nil {
		w.t.Fatal(err)
	}
	if got.Data["v"] != value || got.UID == "" {
		w.t.Fatalf("%s is %v after an apply of %s", name, got, value)
	}
	after := w.applier.Stats()
	if after.Sent+after.Skipped != before.Sent+before.Skipped+1 {
		w.t.Fatalf("one apply made %+v of %+v", after, before)
	}
	if after.Skipped > before.Skipped && (missing != nil || cached.Data["v"] != value) {
		w.t.Fatalf("the apply of %s was left out, and the cache has %v, %v", name, cached, missing)
	}
}

// settle applies in rounds, as the changes that they make would trigger, until one sends nothing.
func (w *applierWorld) settle() {
	w.lag(0)
	for round := 0; ; round++ {
		time.Sleep(time.Minute)
		before := w.applier.Stats().Sent
		for name := range w.want {
			w.apply(name)
		}
		if w.applier.Stats().Sent == before {
			break
		}
		if round > 1 {
			w.t.Fatalf("round %d of applies still sends something", round)
		}
	}
	for name, value := range w.want {
		if got, err := w.api.Get(context.Background(), name); err != nil || got.Data["v"] != value {
			w.t.Errorf("%s is %v, %v; want %s", name, got, err, value)
		}
	}
	if stats := w.applier.Stats(); stats.Skipped < 20 || stats.Sent < 20 {
		w.t.Errorf("%+v: too few for this test to show anything", stats)
	}
}
