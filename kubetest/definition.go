package kubetest

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"

	"github.com/go-kube/kube/resource"
)

// definition is a custom resource definition that is served, in one state of it. It does not
// change, but for terminating: a definition that changes is served by another one.
type definition struct {
	uid         types.UID
	spec        *apiextensionsv1.CustomResourceDefinitionSpec
	names       *apiextensionsv1.CustomResourceDefinitionNames // those that were accepted
	table       *table
	terminating atomic.Bool
	kinds       []*kind // the versions that are served, in the order of discovery
	storage     *kind   // the version of storage, which need not be served
	schemas     func() (schemas, error)
	fields      func() (*customFields, error)
}

// definedVersion is a version of a custom resource.
type definedVersion struct {
	*definition
	version *apiextensionsv1.CustomResourceDefinitionVersion
	checks  func() (*checks, error)
}

// newDefinition returns what serves crd, whose names have been accepted. What is expensive
// about it, such as the compilation of rules, is done when it is first needed.
func newDefinition(crd *apiextensionsv1.CustomResourceDefinition, t *table) *definition {
	d := &definition{uid: crd.UID, spec: &crd.Spec, names: &crd.Status.AcceptedNames, table: t}
	d.terminating.Store(isTerminating(crd))
	d.schemas = sync.OnceValues(d.compileSchemas)
	d.fields = sync.OnceValues(d.compileFields)
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served {
			d.kinds = append(d.kinds, d.newKind(v))
		}
	}
	slices.SortStableFunc(d.kinds, func(a, b *kind) int { return version.CompareKubeAwareVersionStrings(b.Version, a.Version) })
	d.connectVersions()
	return d
}

func isTerminating(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating)
}

// serves reports whether d serves crd as it is now.
func (d *definition) serves(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return d != nil && d.uid == crd.UID && equality.Semantic.DeepEqual(d.spec, &crd.Spec) && equality.Semantic.DeepEqual(d.names, &crd.Status.AcceptedNames)
}

func (d *definition) newKind(v *apiextensionsv1.CustomResourceDefinitionVersion) *kind {
	dv := &definedVersion{definition: d, version: v}
	dv.checks = sync.OnceValues(dv.compileChecks)
	k := &kind{
		Descriptor:   d.descriptor(v),
		list:         d.names.ListKind,
		table:        d.table,
		new:          func() runtime.Object { return &unstructured.Unstructured{Object: map[string]any{}} },
		custom:       true,
		definition:   dv,
		subresources: map[string]*subresource{},
	}
	k.strategy = dv.strategy()
	k.strategy.deprecated = d.deprecation(v)
	if v.Subresources != nil && v.Subresources.Status != nil {
		k.subresources["status"] = dv.statusSubresource()
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		k.subresources["scale"] = scaleSubresource(dv.scaleAccess())
	}
	return k
}

// customVerbs are the verbs of custom resources, in the order of discovery.
var customVerbs = []string{verbDelete, verbDeleteCollection, verbGet, verbList, verbPatch, verbCreate, verbUpdate, verbWatch}

func (d *definition) descriptor(v *apiextensionsv1.CustomResourceDefinitionVersion) *resource.Descriptor {
	scope := resource.NamespaceScoped
	if d.spec.Scope == apiextensionsv1.ClusterScoped {
		scope = resource.ClusterScoped
	}
	info := resource.Info{
		Group: d.spec.Group, Version: v.Name, Kind: d.names.Kind, Plural: d.names.Plural, Singular: d.names.Singular,
		ShortNames: d.names.ShortNames, Categories: d.names.Categories, Verbs: customVerbs,
	}
	if v.Subresources != nil && v.Subresources.Status != nil {
		info.Subresources = append(info.Subresources, "status")
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		info.Subresources = append(info.Subresources, "scale")
	}
	return &resource.Descriptor{Info: info, Scope: scope}
}

// connectVersions has objects kept in the version of storage, whether that is served or not. All
// versions have the same content, which is the strategy None of conversion; what the strategy Webhook
// would have to convert is refused before it comes here, by convertible.
func (d *definition) connectVersions() {
	if i := slices.IndexFunc(d.kinds, func(k *kind) bool { return k.definition.version.Storage }); i >= 0 {
		d.storage = d.kinds[i]
	} else if i := slices.IndexFunc(d.spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage }); i >= 0 {
		d.storage = d.newKind(&d.spec.Versions[i])
	}
	for _, k := range d.kinds {
		if k == d.storage {
			continue
		}
		k.storage = d.storage
		k.load = func(obj runtime.Object) runtime.Object { return convertCustom(obj, k) }
		k.store = func(obj runtime.Object) runtime.Object { return convertCustom(obj, k.storage) }
	}
}

// canonicalCustom returns obj, which it may change, as it is when it has been stored and read
// again: without nulls that a patch has left, and with its defaults.
func canonicalCustom(obj runtime.Object, k *kind) (runtime.Object, error) {
	if k.storage != nil {
		k = k.storage
	}
	if _, err := k.strategy.coerce(obj.(*unstructured.Unstructured), false); err != nil {
		return nil, err
	}
	k.strategy.setDefaults(obj)
	return obj, nil
}

// convertCustom gives obj, a custom resource which it may change, the version of k.
func convertCustom(obj runtime.Object, k *kind) runtime.Object {
	setTypeMeta(obj, k.GroupVersionKind())
	k.strategy.coerce(obj.(*unstructured.Unstructured), false) // it has been coerced before, so there is no error
	return obj
}

// deprecation is the warning that every request for a version gets, empty for none.
func (d *definition) deprecation(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	text := d.spec.Group + "/" + v.Name + " " + d.spec.Names.Kind + " is deprecated"
	if newer := d.newestInstead(v.Name); newer != "" {
		text += "; use " + d.spec.Group + "/" + newer + " " + d.spec.Names.Kind
	}
	return text
}

// newestInstead returns the best version to use instead of a deprecated one, empty if there is
// none.
func (d *definition) newestInstead(deprecated string) string {
	best := deprecated
	for _, v := range d.spec.Versions {
		if v.Served && !v.Deprecated && version.CompareKubeAwareVersionStrings(best, v.Name) < 0 {
			best = v.Name
		}
	}
	if best == deprecated {
		return ""
	}
	return best
}

// compareKinds is the order of custom resources in discovery.
func compareKinds(a, b *kind) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		version.CompareKubeAwareVersionStrings(b.Version, a.Version),
		strings.Compare(a.Plural, b.Plural),
	)
}
