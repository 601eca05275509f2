package crd

import (
	"reflect"
	"strings"

	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// checkKind refuses kinds that no definition can be made for, and names that the API server
// would refuse.
func (b *builder) checkKind(d *resource.Descriptor, t reflect.Type, o *Options) {
	if d.MetadataOnly {
		b.bad.add(d.Kind, "this is the metadata variant of the kind; use the descriptor that it was made from")
		return
	}
	if d.Partial {
		b.bad.add(d.Kind, "its Go type %s has a part of the fields only (resource.Partial); use the descriptor that it was made from", t)
		return
	}
	metadata, ok := t.FieldByName("ObjectMeta")
	if t.Kind() != reflect.Struct || !ok || metadata.Type.PkgPath() != metaPackage {
		b.bad.add(d.Kind, "its Go type is %s, and a schema needs a struct with fields: resource.Object, or your own with metav1.TypeMeta and metav1.ObjectMeta embedded", t)
		return
	}
	b.checkGroup(d.Group)
	if o.Markers == nil { // which may set the annotation
		b.checkApproved(d.Group, o.Annotations)
	}
	b.checkLabel("Info.Version", d.Version)
	b.checkLabel("Info.Kind", strings.ToLower(d.Kind))
	b.checkLabel("Info.Plural", d.Plural)
	b.checkLabel("Info.Singular", d.Singular)
	for _, name := range d.ShortNames {
		b.checkLabel("Info.ShortNames", name)
	}
	for _, name := range d.Categories {
		b.checkLabel("Info.Categories", name)
	}
}

func (b *builder) checkLabel(at, name string) {
	for _, fault := range validation.IsDNS1035Label(name) {
		b.bad.add(at, "%q: %s", name, fault)
	}
}

func (b *builder) checkGroup(group string) {
	if !strings.Contains(group, ".") {
		b.bad.add("Info.Group", "%q: the group of a custom resource is a domain name with a dot, such as example.com", group)
		return
	}
	for _, fault := range validation.IsDNS1123Subdomain(group) {
		b.bad.add("Info.Group", "%q: %s", group, fault)
	}
}

// checkApproved checks the groups of the Kubernetes community, which asks for a review.
// See https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/2337-k8s.io-group-protection
func (b *builder) checkApproved(group string, annotations map[string]string) {
	protected := strings.HasSuffix("."+group, ".k8s.io") || strings.HasSuffix("."+group, ".kubernetes.io")
	if protected && annotations[apiextensionsv1.KubeAPIApprovedAnnotation] == "" {
		b.bad.add("Info.Group", "%q belongs to the Kubernetes community: use a group of your own, or set the annotation %s to the address of its review", group, apiextensionsv1.KubeAPIApprovedAnnotation)
	}
}
