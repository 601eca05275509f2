package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-kube/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Finalize returns a reconciler for objects whose deletion needs work: the finalizer called
// name keeps a deleted object in the server until cleanup has succeeded. It is for [New]:
//
//	ctl := controller.New(webapps, controller.Finalize(webapps, "example.com/cleanup", apply, cleanup), nil)
//
// What it does depends on the object:
//
//   - It has no finalizer and is not being deleted: the finalizer is added, and nothing else is
//     done. The change triggers the next run; a [Predicate] has to let it pass.
//   - It has the finalizer and is not being deleted: apply is called. So apply never does
//     anything that cleanup would not be there to undo.
//   - It has the finalizer and is being deleted: cleanup is called. When it returns [Await]
//     and no error, it is done, and the finalizer is removed. [After] and [Retry] mean that it is
//     not done yet: the finalizer stays, and cleanup is called again as they say. So it is after
//     an error.
//   - It has no finalizer and is being deleted: others have work to do, and nothing is done.
//
// cleanup can be called again after it was done, when its finalizer could not be removed or
// the cache did not show that it was, so it has to bear that.
//
// Finalizers are added and removed by patches that test what they change, so that several
// controllers can have theirs on one object. One that comes too late fails with
// [kube.ErrInvalid], and is tried again with a newer state of the object.
//
// Several finalizers of one controller are written as one inside the other: the apply and the
// cleanup of the outer Finalize can be reconcilers made by Finalize.
//
// Finalize panics when name is not one that the server takes: a domain, a slash and a name, as
// in example.com/cleanup.
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
func Finalize[K any](api kube.API[K], name string, apply, cleanup func(ctx context.Context, obj *K) (Action, error)) func(ctx context.Context, obj *K) (Action, error) {
	if problems := finalizerProblems(name); len(problems) > 0 {
		panic(fmt.Sprintf("controller: %q is no name of a finalizer: %s", name, strings.Join(problems, "; ")))
	}
	if apply == nil || cleanup == nil {
		panic(fmt.Sprintf("controller: the finalizer %s needs both an apply and a cleanup function", name))
	}
	return func(ctx context.Context, obj *K) (Action, error) {
		m, ok := any(obj).(metav1.Object)
		if !ok {
			return Await(), Terminal(fmt.Errorf("finalizer %s: %T has no metadata", name, obj))
		}
		position := slices.Index(m.GetFinalizers(), name)
		deleting := m.GetDeletionTimestamp() != nil
		switch {
		case position < 0 && deleting:
			return Await(), nil
		case position < 0:
			return Await(), addFinalizer(ctx, api, m, name)
		case !deleting:
			return apply(ctx, obj)
		}
		action, err := cleanup(ctx, obj)
		if err != nil {
			return action, fmt.Errorf("cleanup for finalizer %s: %w", name, err)
		}
		if action != Await() {
			return action, nil
		}
		if now := slices.Index(m.GetFinalizers(), name); now >= 0 { // cleanup may have read obj anew
			position = now
		}
		return Await(), removeFinalizer(ctx, api, m, name, position)
	}
}

// finalizerProblems says what is wrong with the name of a finalizer. The server refuses names
// without a domain that are not its own.
func finalizerProblems(name string) []string {
	problems := validation.IsQualifiedName(name)
	if len(problems) == 0 && !strings.Contains(name, "/") {
		problems = append(problems, "it needs a domain, as in example.com/"+name)
	}
	return problems
}

// addFinalizer adds name to the finalizers. The server does not notice when it is there
// already, so the patch tests that the list is the one in which it was missed.
func addFinalizer[K any](ctx context.Context, api kube.API[K], m metav1.Object, name string) error {
	const path = "/metadata/finalizers"
	steps := []kube.JSONPatchOp{sameObject(m)}
	if present := m.GetFinalizers(); len(present) == 0 {
		steps = append(steps,
			kube.JSONPatchOp{Op: "test", Path: path, Value: nil},
			kube.JSONPatchOp{Op: "add", Path: path, Value: []string{name}})
	} else {
		steps = append(steps,
			kube.JSONPatchOp{Op: "test", Path: path, Value: present},
			kube.JSONPatchOp{Op: "add", Path: path + "/-", Value: name})
	}
	if err := patchFinalizers(ctx, api, m, steps); err != nil {
		return fmt.Errorf("add finalizer %s: %w", name, err)
	}
	return nil
}

// removeFinalizer takes name out of the finalizers, where it stands at position. An object
// that is gone has none.
func removeFinalizer[K any](ctx context.Context, api kube.API[K], m metav1.Object, name string, position int) error {
	path := fmt.Sprintf("/metadata/finalizers/%d", position)
	err := patchFinalizers(ctx, api, m, []kube.JSONPatchOp{
		sameObject(m),
		{Op: "test", Path: path, Value: name},
		{Op: "remove", Path: path},
	})
	if err != nil && !errors.Is(err, kube.ErrNotFound) {
		return fmt.Errorf("remove finalizer %s: %w", name, err)
	}
	return nil
}

// sameObject tests that the patch does not meet another object of the same name.
func sameObject(m metav1.Object) kube.JSONPatchOp {
	return kube.JSONPatchOp{Op: "test", Path: "/metadata/uid", Value: m.GetUID()}
}

func patchFinalizers[K any](ctx context.Context, api kube.API[K], m metav1.Object, steps []kube.JSONPatchOp) error {
	if m.GetNamespace() != "" {
		api = api.In(m.GetNamespace())
	}
	_, err := api.Patch(ctx, m.GetName(), kube.JSONPatch(steps...), nil)
	return err
}
