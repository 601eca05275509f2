package kubetest_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/runtime/reflector"
)

// troubles make things go wrong at random.
type troubles struct {
	t      *testing.T
	server *kubetest.Server
	admin  *kube.Client
	random *rand.Rand
	set    *reflector.NamespaceSet

	mu     sync.Mutex
	faults []*kubetest.Fault
	count  int
}

var (
	reads  = []string{"list", "watch"}
	opens  = []string{"watch"}
	writes = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// span returns a time of up to d, mostly a short one.
func (w *troubles) span(d time.Duration) time.Duration {
	x := w.random.Float64()
	return time.Duration(x * x * float64(d))
}

// rage has something go wrong every now and then, until a time. It mends everything then.
func (w *troubles) rage(ctx context.Context, until time.Time, defined bool) {
	for {
		time.Sleep(w.span(30 * time.Minute))
		if time.Until(until) <= 0 {
			break
		}
		w.next(ctx)
	}
	w.mend(ctx, defined)
}

// next has something go wrong.
func (w *troubles) next(ctx context.Context) {
	w.count++
	times, a, b := 1+w.random.IntN(20), 1+w.random.IntN(20), w.random.IntN(2) == 0
	switch w.random.IntN(17) {
	case 0:
		w.fault(0, kubetest.Match{Verbs: opens, Times: times}, kubetest.Cut())
	case 1:
		w.fault(0, kubetest.Match{Verbs: opens, Times: times}, kubetest.Refuse(410, metav1.StatusReasonExpired, "", 0))
		w.fault(0, kubetest.Match{Verbs: opens, Times: times}, kubetest.Cut())
	case 2:
		w.fault(20*time.Minute, kubetest.Match{Verbs: reads}, kubetest.Refuse(500, metav1.StatusReasonInternalError, "", 0))
		w.fault(0, kubetest.Match{Verbs: opens, Times: times}, kubetest.Cut())
	case 3:
		w.fault(0, kubetest.Match{Times: times}, kubetest.Refuse(429, metav1.StatusReasonTooManyRequests, "", time.Duration(a)*3*time.Second))
	case 4:
		w.outage(20 * time.Minute)
	case 5:
		w.server.Restart()
	case 6:
		w.server.Compact()
	case 7:
		w.fault(20*time.Minute, kubetest.Match{}, kubetest.DelayEvents(w.span(10*time.Minute)))
	case 8:
		w.fault(20*time.Minute, kubetest.Match{}, kubetest.Stale(a))
	case 9:
		w.fault(0, kubetest.Match{Verbs: writes, Times: times}, kubetest.Lose())
	case 10:
		w.fault(0, kubetest.Match{Verbs: writes, Times: times}, kubetest.Conflict())
	case 11:
		w.fault(20*time.Minute, kubetest.Match{}, kubetest.Duplicate())
	case 12:
		w.fault(20*time.Minute, kubetest.Match{}, kubetest.CutAfter(a%4))
	case 13:
		w.fault(time.Hour, kubetest.Match{Resource: "gizmos.week.example.com", Verbs: reads}, kubetest.Refuse(403, metav1.StatusReasonForbidden, "", 0))
	case 14:
		w.fault(20*time.Minute, kubetest.Match{}, kubetest.Delay(w.span(time.Minute)))
	case 15:
		w.undefine(ctx)
		if b {
			time.Sleep(w.span(30 * time.Minute))
			w.define(ctx)
		}
	case 16:
		w.places()
	}
}

// fault has a fault happen, for a time of up to d, or as often as match says.
func (w *troubles) fault(d time.Duration, match kubetest.Match, action kubetest.Action) {
	f := w.server.Fault(match, action)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, f)
	if d > 0 {
		time.AfterFunc(w.span(d), f.Remove)
	}
}

// outage has the server be away for a time of up to d.
func (w *troubles) outage(d time.Duration) {
	w.server.Stop()
	time.Sleep(w.span(d))
	w.server.Restart()
}

// undefine removes the custom kind, as far as that works now.
func (w *troubles) undefine(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := w.admin.All(apiextensions.CustomResourceDefinitions).Delete(ctx, "gizmos.week.example.com", nil)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count++
	}
}

// define has the custom kind served, as far as that works now.
func (w *troubles) define(ctx context.Context) error {
	var def apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(gizmoDefinition), &def); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := w.admin.All(apiextensions.CustomResourceDefinitions).Create(ctx, &def, nil)
	return err
}

// places changes the namespaces that one of the stores is of.
func (w *troubles) places() {
	var names []string
	for _, name := range weekNamespaces {
		if w.random.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	if err := w.set.Set(names...); err != nil {
		w.t.Error(err)
	}
}

// mend ends all troubles, and sees to it that the custom kind is defined or is not. A definition that
// is being deleted has to be gone before it can be made anew.
func (w *troubles) mend(ctx context.Context, defined bool) {
	w.mu.Lock()
	for _, f := range w.faults {
		f.Remove()
	}
	w.faults = nil
	w.mu.Unlock()
	w.server.Restart()
	definitions := w.admin.All(apiextensions.CustomResourceDefinitions)
	for range 100 {
		def, ok, err := definitions.Lookup(ctx, "gizmos.week.example.com")
		switch {
		case err != nil:
		case ok && def.DeletionTimestamp == nil && defined, !ok && !defined:
			return
		case !ok:
			err = w.define(ctx)
		case def.DeletionTimestamp == nil:
			w.undefine(ctx)
		}
		if err != nil {
			w.t.Errorf("mending the definition: %v", err)
		}
		time.Sleep(10 * time.Second)
	}
	w.t.Errorf("the definition of gizmos is still being deleted; it should be there: %t", defined)
}
