package cel

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/crd/cel"
)

// marshal writes JSON whose members have one order.
func marshal(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }

// nowhere is the field of causes that name none.
const nowhere = "<nil>"

// verdictOf describes a Status: its code and, in lines of their own, its causes. Those about
// one field have an order; fields have none, since a server visits them in that of Go's maps.
func verdictOf(status metav1.Status) string {
	if status.Status == metav1.StatusSuccess {
		return "accepted\n"
	}
	if status.Details == nil || len(status.Details.Causes) == 0 {
		return fmt.Sprintf("%d %s: %s\n", status.Code, status.Reason, status.Message)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d %s\n", status.Code, status.Reason)
	causes := slices.Clone(status.Details.Causes)
	slices.SortStableFunc(causes, func(a, b metav1.StatusCause) int {
		if order := cmp.Compare(a.Field, b.Field); order != 0 || a.Field != nowhere {
			return order
		}
		return cmp.Compare(a.Message, b.Message)
	})
	for _, cause := range causes {
		fmt.Fprintf(&out, "  %s %s: %q\n", cause.Field, cause.Type, cause.Message)
	}
	return out.String()
}

// judged is what package crd/cel says about a pair, in the words of a server.
func (tab *table) judged(ctx context.Context, v *cel.Validator, p pair, name string) (string, error) {
	object, err := tab.named(p.Object, version, name)
	if err != nil {
		return "", err
	}
	old, err := tab.named(p.Old, version, name)
	if err != nil {
		return "", err
	}
	switch {
	case p.ToStatus:
		err = v.ValidateStatus(ctx, object, old)
	case p.Old != nil:
		err = v.ValidateUpdate(ctx, object, old)
	default:
		err = v.Validate(ctx, object)
	}
	if err == nil {
		return verdictOf(metav1.Status{Status: metav1.StatusSuccess}), nil
	}
	faults := cel.Faults(err)
	if faults == nil {
		return "", err
	}
	return verdictOf(apierrors.NewInvalid(schema.GroupKind{Group: group, Kind: tab.kind()}, name, faults).ErrStatus), nil
}
