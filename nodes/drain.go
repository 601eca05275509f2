package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DrainOptions are for [Drain]. The zero value refuses to drain a node with pods that would be
// lost or would come back at once.
type DrainOptions struct {
	// IgnoreDaemonSets leaves the pods of DaemonSets where they are: their controller does not
	// heed a cordon and would make them again.
	IgnoreDaemonSets bool
	// DeleteEmptyDirData evicts pods with emptyDir volumes, whose data ends with the pod.
	DeleteEmptyDirData bool
	// Force evicts pods that no controller makes again, and those of a DaemonSet that is gone.
	Force bool
	// Labels selects the pods to evict; empty is all.
	Labels string
	// GracePeriod is what the pods get to end. Nil is each pod's own.
	GracePeriod *time.Duration
	// DisableEviction deletes the pods in place of evicting them, and so goes past
	// PodDisruptionBudgets.
	DisableEviction bool
	// RetryInterval is the time between attempts to evict a pod that a PodDisruptionBudget holds.
	// Zero is 5 s, and what the server asks for wins if it is longer.
	RetryInterval time.Duration
	// Timeout bounds the whole. Zero is no bound but ctx.
	Timeout time.Duration
	// DryRun says what would be done (as events Evicting) and does nothing: not even the cordon.
	DryRun bool
	// Progress is told what happens, by one goroutine at a time. It must be quick.
	Progress func(Event)
}

const (
	defaultRetryInterval = 5 * time.Second
	// mostTroubles is how often in a row an eviction is asked for again when the server fails.
	mostTroubles = 10
)

// Step is what an [Event] tells of.
type Step string

const (
	// Skipped: the pod stays, and Err says why.
	Skipped Step = "skipped"
	// Evicting: the pod's end has been asked for.
	Evicting Step = "evicting"
	// Blocked: a PodDisruptionBudget holds the pod, or the server fails; Err has the server's words.
	// It will be tried again.
	Blocked Step = "blocked"
	// Gone: the pod does not exist any more.
	Gone Step = "gone"
	// Failed: the pod could not be evicted, and Err says why.
	Failed Step = "failed"
)

// Event is a step of a drain.
type Event struct {
	Step           Step
	Namespace, Pod string
	Err            error
}

// String says it in a line.
func (e Event) String() string {
	s := fmt.Sprintf("%s %s/%s", e.Step, e.Namespace, e.Pod)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Drain cordons the node called name, evicts its pods, and returns when they are gone. Pods that
// the options do not allow to evict are found before anything is evicted, and named in the error,
// all of them; the node is cordoned then. Static pods stay: only the kubelet can end them.
//
// Evictions heed PodDisruptionBudgets: a pod that one holds is tried again until it may go or the
// time is up. What the server says can never be granted, as for a pod with two budgets, is not tried
// again, and what fails for the server's own reasons ten times. The error joins those of all pods
// that are left.
//
// It takes the rights to patch nodes, to get and list pods, to create pods/eviction (to delete pods
// with DisableEviction), and to get the DaemonSets of apps; with that to watch pods, the end of one is
// seen at once, and otherwise within 5 s.
// See https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
func Drain(ctx context.Context, client *kube.Client, name string, opts *DrainOptions) error {
	d := &drain{client: client, node: name}
	if opts != nil {
		d.DrainOptions = *opts
	}
	if err := d.prepare(); err != nil {
		return fmt.Errorf("nodes: draining %s: %w", name, err)
	}
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.Timeout, fmt.Errorf("not drained within %s", d.Timeout))
		defer cancel()
	}
	if err := d.run(ctx); err != nil {
		return fmt.Errorf("nodes: draining %s: %w", name, err)
	}
	return nil
}

type drain struct {
	DrainOptions
	client *kube.Client
	node   string
	mu     sync.Mutex // held while Progress is told
}

func (d *drain) prepare() error {
	switch {
	case d.RetryInterval < 0 || d.Timeout < 0:
		return errors.New("RetryInterval and Timeout cannot be negative")
	case d.GracePeriod != nil && *d.GracePeriod < 0:
		return fmt.Errorf("GracePeriod is %s; nil is each pod's own", *d.GracePeriod)
	case d.GracePeriod != nil && *d.GracePeriod%time.Second != 0:
		return fmt.Errorf("GracePeriod is %s, and Kubernetes counts whole seconds", *d.GracePeriod)
	case d.RetryInterval == 0:
		d.RetryInterval = defaultRetryInterval
	}
	return nil
}

func (d *drain) run(ctx context.Context) error {
	if !d.DryRun {
		if err := Cordon(ctx, d.client, d.node); err != nil {
			return err
		}
	}
	pods, err := d.pods(ctx)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	failures := make([]error, len(pods))
	for i, pod := range pods {
		if d.DryRun {
			d.tell(Evicting, pod, nil)
			continue
		}
		wg.Go(func() { failures[i] = d.remove(ctx, pod) })
	}
	wg.Wait()
	return errors.Join(failures...)
}

func (d *drain) tell(step Step, pod *corev1.Pod, err error) {
	if d.Progress == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Progress(Event{step, pod.Namespace, pod.Name, err})
}

// remove ends a pod and waits until it is gone.
func (d *drain) remove(ctx context.Context, pod *corev1.Pod) error {
	api := d.client.Namespaced(core.Pods, pod.Namespace)
	err := d.end(ctx, api, pod)
	if err == nil {
		d.tell(Evicting, pod, nil)
		err = api.WaitDeleted(ctx, pod.Name, pod.UID)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		d.tell(Failed, pod, err)
		return err
	}
	d.tell(Gone, pod, nil)
	return nil
}

// end asks for the end of a pod until the server grants it.
func (d *drain) end(ctx context.Context, api kube.API[corev1.Pod], pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	for troubles := 0; ; {
		err := d.ask(ctx, api, pod)
		if isTrouble(err) {
			troubles++
		} else {
			troubles = 0
		}
		if err == nil || !isBlocked(err) || troubles > mostTroubles {
			return err
		}
		d.tell(Blocked, pod, err)
		wait := d.RetryInterval
		if told, ok := kube.RetryAfter(err); ok {
			wait = max(wait, told)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// ask sends one eviction or deletion. The client repeats what did not reach the server, but not an
// eviction that is refused with 429: a budget is waited for here, where it is told.
func (d *drain) ask(ctx context.Context, api kube.API[corev1.Pod], pod *corev1.Pod) error {
	if d.DisableEviction {
		return api.Delete(ctx, pod.Name, &kube.DeleteOptions{GracePeriod: d.GracePeriod, UID: pod.UID})
	}
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	if d.GracePeriod != nil {
		seconds := int64(*d.GracePeriod / time.Second)
		eviction.DeleteOptions.GracePeriodSeconds = &seconds
	}
	_, err := api.Sub(core.PodEviction).Create(ctx, pod.Name, eviction, nil)
	if apierrors.IsConflict(err) && !isBlocked(err) {
		return nil // another pod has the name; that this one is gone is seen next
	}
	return err
}

// isBlocked reports whether an eviction may be granted later: a budget holds the pod, the server
// is in trouble, or the namespace is on its way out and takes no evictions any more, though its pods
// end.
func isBlocked(err error) bool {
	return apierrors.IsTooManyRequests(err) || isTrouble(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isTrouble reports whether err is of the server's own making. A 500 without a reason is none: by it
// the server says that an eviction can never be granted, as of a pod with two budgets.
// See https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/#how-api-initiated-eviction-works
func isTrouble(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonInternalError || apierrors.IsServiceUnavailable(err)
}
