package kubetest

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// resetFields returns which fields a write to a subresource of a built-in kind (to the object
// itself if it is empty) cannot change, so that no manager owns them by it. A real server
// declares them as the GetResetFields of the kind's strategy.
func resetFields(gk schema.GroupKind, subresource string) fieldpath.Filter {
	switch subresource {
	case "ephemeralcontainers":
		return fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("spec", "ephemeralContainers"))
	case "resize":
		return fieldpath.NewIncludeMatcherFilter(resizeMatchers()...)
	case "scale":
		return nil
	}
	return excluding(resetPaths(gk, subresource))
}

func resizeMatchers() []*fieldpath.SetMatcher {
	var matchers []*fieldpath.SetMatcher
	for _, list := range []string{"containers", "initContainers"} {
		for _, field := range []string{"resources", "resizePolicy"} {
			matchers = append(matchers, fieldpath.MakePrefixMatcherOrDie("spec", list, fieldpath.MatchAnyPathElement(), field))
		}
	}
	return matchers
}

// excluding returns a filter that leaves paths out; nil if there are none.
func excluding(paths [][]any) fieldpath.Filter {
	if len(paths) == 0 {
		return nil
	}
	set := fieldpath.NewSet()
	for _, p := range paths {
		set.Insert(fieldpath.MakePathOrDie(p...))
	}
	return fieldpath.NewExcludeSetFilter(set)
}

func resetPaths(gk schema.GroupKind, subresource string) [][]any {
	status, spec, metadata := []any{"status"}, []any{"spec"}, []any{"metadata"}
	isRequest := gk == schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}
	switch {
	case isRequest && subresource == "":
		return [][]any{spec, status}
	case isRequest && subresource == "status":
		return [][]any{spec, {"status", "conditions"}}
	case isRequest && subresource == "approval":
		return [][]any{spec, {"status", "certificate"}}
	case subresource == "" || subresource == "finalize":
		return [][]any{status}
	case subresource != "status":
		return nil
	case gk == schema.GroupKind{Group: "apps", Kind: "Deployment"}:
		return [][]any{spec, {"metadata", "labels"}}
	case gk == schema.GroupKind{Kind: "Pod"}:
		return [][]any{spec, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}
	case statusKeepsMetadata(gk):
		return [][]any{spec, metadata}
	}
	return [][]any{spec}
}

// statusKeepsMetadata reports whether a write to the status subresource changes no metadata.
func statusKeepsMetadata(gk schema.GroupKind) bool {
	switch gk.Group {
	case "certificates.k8s.io", "scheduling.k8s.io", "storagemigration.k8s.io", "resource.k8s.io", "internal.apiserver.k8s.io",
		"storage.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io":
		return true
	case "networking.k8s.io":
		return gk.Kind == "ServiceCIDR"
	}
	return false
}
