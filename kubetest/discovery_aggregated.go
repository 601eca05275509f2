package kubetest

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"strconv"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/internal/codec"
)

const aggregatedKind = "APIGroupDiscoveryList"

// isAggregated reports whether the parameters of a media type ask for the aggregated document.
// v2beta1 of it is gone from Kubernetes 1.37.
func isAggregated(params map[string]string) bool {
	return params["as"] == aggregatedKind && params["g"] == apidiscoveryv2.GroupName && params["v"] == "v2"
}

// respondAggregated answers with all about groups at once (KEP-3352). The client may have it
// already, and gets 304 then.
func (rq *request) respondAggregated(w http.ResponseWriter, groups []servedGroup) error {
	list := &apidiscoveryv2.APIGroupDiscoveryList{Items: make([]apidiscoveryv2.APIGroupDiscovery, len(groups))}
	for i := range groups {
		list.Items[i] = groups[i].aggregated()
	}
	canonical, err := codec.EncodeJSON(list)
	if err != nil {
		return err
	}
	tag := strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(canonical)))
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if rq.http.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	data, err := encodeBody(list, apidiscoveryv2.SchemeGroupVersion.WithKind(aggregatedKind), rq.media)
	if err != nil {
		return err
	}
	h.Set("Content-Type", rq.media.format.String()+";g="+apidiscoveryv2.GroupName+";v=v2;as="+aggregatedKind)
	w.WriteHeader(http.StatusOK)
	w.Write(data)
	return nil
}

func (g *servedGroup) aggregated() apidiscoveryv2.APIGroupDiscovery {
	d := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
	for _, v := range g.versions {
		version := apidiscoveryv2.APIVersionDiscovery{Version: v.name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		for _, r := range v.resources {
			version.Resources = append(version.Resources, r.aggregated())
		}
		d.Versions = append(d.Versions, version)
	}
	return d
}

func (r *servedResource) aggregated() apidiscoveryv2.APIResourceDiscovery {
	k := r.kind
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: k.Plural, SingularResource: k.Singular, ResponseKind: k.responseKind(), Scope: apidiscoveryv2.ScopeCluster,
		Verbs: k.Verbs, ShortNames: k.ShortNames, Categories: k.Categories,
	}
	if k.namespaced() {
		d.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, sub := range r.subs {
		kind := &metav1.GroupVersionKind{Group: sub.group, Version: sub.version, Kind: sub.kind}
		if sub.version == "" {
			kind = k.responseKind()
			kind.Kind = sub.kind
		}
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: sub.name, ResponseKind: kind, Verbs: sub.verbs,
		})
	}
	return d
}

// responseKind returns the kind of the objects of k. Of built-in kinds, group and version go
// without saying.
func (k *kind) responseKind() *metav1.GroupVersionKind {
	if k.custom {
		return &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
	}
	return &metav1.GroupVersionKind{Kind: k.Kind}
}
