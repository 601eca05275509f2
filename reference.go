package kube

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-kube/kube/resource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Reference names an object as one object names another. Owner references, corev1.ObjectReference
// and references of custom resources all come down to it; a local reference, which is a name
// alone, is what [API.Get] takes.
type Reference struct {
	// APIVersion and Kind say what it is. Any version of the group will do.
	APIVersion, Kind string
	// Namespace is ignored for cluster-scoped kinds. Where it is empty, it is that of the API.
	Namespace string
	Name      string
	// UID is the object's, if it is known: another object of the same name is not taken for it.
	UID types.UID
}

// ToOwner returns the reference that stands in the metadata of an object in namespace: owners live
// in the namespace of what they own, or in none.
func ToOwner(owner metav1.OwnerReference, namespace string) Reference {
	return Reference{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: namespace, Name: owner.Name, UID: owner.UID}
}

// Resolve reads the object that ref names. It has to be of this API's kind. An object that is not
// there any more, or whose place another one has taken, is [ErrNotFound].
func (a API[K]) Resolve(ctx context.Context, ref Reference) (*K, error) {
	e := a.endpoint
	r := &request{verb: "get", method: http.MethodGet, namespace: ref.Namespace, name: ref.Name}
	group, _ := resource.SplitAPIVersion(ref.APIVersion)
	if ref.Kind != e.kind.Kind || group != e.kind.Group {
		return nil, e.fail(r, fmt.Errorf("the reference is to a %s of %s, and the API is of %s in group %q", ref.Kind, ref.APIVersion, e.kind.Kind, e.kind.Group))
	}
	if e.kind.Scope == resource.NamespaceScoped && ref.Namespace != "" {
		a = a.In(ref.Namespace)
	}
	obj, err := a.Get(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	if uid := any(obj).(metav1.Object).GetUID(); ref.UID != "" && uid != ref.UID {
		gone := apierrors.NewNotFound(e.kind.GroupResource(), ref.Name)
		gone.ErrStatus.Message += fmt.Sprintf(": the one with uid %s is gone, another one has its name", ref.UID)
		return nil, e.fail(r, gone)
	}
	return obj, nil
}

// ResolveDynamic is [API.Resolve] for references to any kind: what it is, is asked of the server
// first.
func (c *Client) ResolveDynamic(ctx context.Context, ref Reference) (*unstructured.Unstructured, error) {
	kind, err := c.DiscoverKind(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err != nil {
		return nil, err
	}
	return c.All(kind).Resolve(ctx, ref)
}
