package crd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// installTimeout bounds an Install whose context has no deadline: a server that establishes
	// nothing has a fault that no waiting heals.
	installTimeout = time.Minute
	// watchTimeout ends a watch that may have died unnoticed, and has the state read anew.
	watchTimeout = 10 * time.Second
	// retryPause is how long a failed watch or read rests.
	retryPause = 500 * time.Millisecond
	// conflictGrace is how long a name conflict has to last to be believed. The server keeps
	// the word of an earlier state until it has looked at the new one, and the rival may be
	// about to go.
	conflictGrace = 3 * time.Second
)

// definitions describes the kind without its protobuf form, so that a program which installs a
// definition once does not link a decoder for all of them (100 KB).
var definitions = resource.DefineCluster[apiextensionsv1.CustomResourceDefinition](resource.Info{
	Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition",
})

// Install applies definitions by server-side apply, and waits until the API server has
// accepted their names and serves them (Established). fieldManager owns what they set; fields
// of other managers are taken over. Applying what is there already changes nothing.
//
// All of defs are applied before the first is waited for. A definition that is being deleted
// is waited for, and applied again once it is gone. ctx bounds the whole; without a deadline
// it is one minute. The error names the definition: names that another kind has already, or
// what it still waited for when the time was over. It may be called by any number of
// goroutines and programs at the same time.
//
// The client needs the verbs get, create and patch on customresourcedefinitions; watch makes it
// faster.
func Install(ctx context.Context, client *kube.Client, fieldManager string, defs ...*apiextensionsv1.CustomResourceDefinition) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, installTimeout)
		defer cancel()
	}
	api := client.All(definitions)
	var waits []*installation
	for i, def := range defs {
		if def == nil {
			return fmt.Errorf("crd: definition %d is nil", i)
		}
		in := &installation{api: api, fieldManager: fieldManager, want: applied(def)}
		if err := in.apply(ctx); err != nil {
			return fmt.Errorf("crd: installing %s: %w", def.Name, err)
		}
		waits = append(waits, in)
	}
	for _, in := range waits {
		if err := in.wait(ctx); err != nil {
			return fmt.Errorf("crd: installing %s: %w", in.want.Name, err)
		}
	}
	return nil
}

// applied is what an apply of def owns: not what a server added to it.
func applied(def *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	m := manifestOf(def)
	return &apiextensionsv1.CustomResourceDefinition{TypeMeta: m.TypeMeta, ObjectMeta: m.ObjectMeta, Spec: m.Spec}
}

// installation is one definition on its way.
type installation struct {
	api          kube.API[apiextensionsv1.CustomResourceDefinition]
	fieldManager string
	want         *apiextensionsv1.CustomResourceDefinition
	// seen is the last state that the server told.
	seen *apiextensionsv1.CustomResourceDefinition
	// conflicted is since when its names have been in conflict; zero when they are not.
	conflicted time.Time
	// trouble is why the state could not be watched or read, for when the time is over.
	trouble error
}

func (in *installation) apply(ctx context.Context) (err error) {
	in.seen, err = in.api.Apply(ctx, in.want, in.fieldManager, nil)
	return err
}

// wait goes on until the definition is established.
func (in *installation) wait(ctx context.Context) error {
	for {
		done, err := in.judge()
		if done || err != nil {
			return err
		}
		if err := in.next(ctx); err != nil {
			return err
		}
	}
}

// judge says whether the state seen is the end of the wait, a good or a bad one.
func (in *installation) judge() (done bool, err error) {
	if in.seen.DeletionTimestamp != nil {
		return false, nil
	}
	if accepted := in.condition(apiextensionsv1.NamesAccepted); accepted.Status == apiextensionsv1.ConditionFalse {
		if in.conflicted.IsZero() {
			in.conflicted = time.Now()
		}
		if time.Since(in.conflicted) >= conflictGrace {
			return false, fmt.Errorf("the API server does not accept %s: %s (%s)", in.refusedNames(), accepted.Message, accepted.Reason)
		}
		return false, nil
	}
	in.conflicted = time.Time{}
	established := in.condition(apiextensionsv1.Established).Status == apiextensionsv1.ConditionTrue
	return established && in.refusedNames() == "", nil
}

func (in *installation) condition(of apiextensionsv1.CustomResourceDefinitionConditionType) apiextensionsv1.CustomResourceDefinitionCondition {
	for _, c := range in.seen.Status.Conditions {
		if c.Type == of {
			return c
		}
	}
	return apiextensionsv1.CustomResourceDefinitionCondition{Type: of, Status: apiextensionsv1.ConditionUnknown}
}

// refusedNames lists the names of the definition that the server has not accepted.
func (in *installation) refusedNames() string {
	want, have := in.seen.Spec.Names, in.seen.Status.AcceptedNames
	var refused []string
	for _, n := range []struct{ field, want, have string }{
		{"plural", want.Plural, have.Plural},
		{"singular", want.Singular, have.Singular},
		{"kind", want.Kind, have.Kind},
		{"listKind", want.ListKind, have.ListKind},
	} {
		if n.want != n.have {
			refused = append(refused, fmt.Sprintf("%s %q", n.field, n.want))
		}
	}
	for _, short := range want.ShortNames {
		if !slices.Contains(have.ShortNames, short) {
			refused = append(refused, fmt.Sprintf("short name %q", short))
		}
	}
	return strings.Join(refused, ", ")
}

// next sees another state, or the same one again after a while.
func (in *installation) next(ctx context.Context) error {
	changed, err := in.watch(ctx)
	if changed || err != nil {
		return err
	}
	if !sleep(ctx, retryPause) {
		return in.timedOut(ctx)
	}
	return in.read(ctx)
}

// watch waits for a change of the state seen, for some time.
func (in *installation) watch(ctx context.Context) (changed bool, err error) {
	limit := watchTimeout + time.Second // the server ends the watch before
	if !in.conflicted.IsZero() {
		limit = conflictGrace - time.Since(in.conflicted)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for event, err := range in.api.Watch(limited, &kube.WatchOptions{
		Fields:          "metadata.name=" + in.want.Name,
		ResourceVersion: in.seen.ResourceVersion,
		Timeout:         watchTimeout,
	}) {
		switch {
		case err != nil && limited.Err() == nil:
			in.trouble = err
			return false, nil
		case err != nil || event.Type == kube.Bookmark:
			continue
		case event.Type == kube.Deleted:
			return true, in.apply(ctx)
		}
		if in.seen, err = event.Object.Decode(); err != nil {
			return false, err
		}
		return true, nil
	}
	return false, nil
}

// read sees the state by a read. A server that cannot be reached is waited for, one that
// refuses is not.
func (in *installation) read(ctx context.Context) error {
	state, found, err := in.api.Lookup(ctx, in.want.Name)
	switch {
	case ctx.Err() != nil:
		return in.timedOut(ctx)
	case err != nil && isRefusal(err):
		return err
	case err != nil:
		in.trouble = err
		return nil
	case !found:
		return in.apply(ctx)
	}
	in.seen = state
	return nil
}

// isRefusal reports whether the server said no, in a way that time does not change.
func isRefusal(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	code := status.ErrStatus.Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// timedOut says what was still waited for.
func (in *installation) timedOut(ctx context.Context) error {
	established := in.condition(apiextensionsv1.Established)
	accepted := in.condition(apiextensionsv1.NamesAccepted)
	state := "it is applied, and the server has not begun to establish it"
	switch {
	case in.seen.DeletionTimestamp != nil:
		state = "the definition of that name is being deleted, which waits for the deletion of its objects"
	case accepted.Status == apiextensionsv1.ConditionFalse:
		state = fmt.Sprintf("the server does not accept %s: %s (%s)", in.refusedNames(), accepted.Message, accepted.Reason)
	case established.Reason != "" && established.Status != apiextensionsv1.ConditionTrue:
		state = fmt.Sprintf("it is applied, and not established: %s (%s)", established.Message, established.Reason)
	case len(in.seen.Status.Conditions) > 0 && in.refusedNames() != "":
		state = "it is applied, and the server has not accepted yet: " + in.refusedNames()
	}
	if in.trouble != nil {
		return fmt.Errorf("%w: %s; reading its state failed: %w", context.Cause(ctx), state, in.trouble)
	}
	return fmt.Errorf("%w: %s", context.Cause(ctx), state)
}

// sleep waits for d, and reports whether ctx lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
