package kubetest

import (
	"net/http"
	"slices"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discoveryMedia returns the form of an answer about what is served, and whether the
// aggregated document is asked for, which aggregates says can be had.
func discoveryMedia(r *http.Request, aggregates bool) (m media, aggregated bool, err error) {
	pretty := wantsPretty(r)
	if r.Header.Get("Accept") == "" {
		return media{pretty: pretty}, false, nil
	}
	for _, clause := range goautoneg.ParseAccept(r.Header.Get("Accept")) {
		wanted := aggregates && isAggregated(clause.Params)
		if wanted {
			clause.Params = nil
		}
		for _, f := range everyFormat {
			if m, ok := acceptable(clause, f, nil); ok {
				m.pretty = m.pretty || pretty
				return m, wanted, nil
			}
		}
	}
	return media{pretty: pretty}, false, notAcceptable(nil)
}

// serveGroups answers GET /apis.
func serveGroups(w http.ResponseWriter, rq *request) error {
	m, aggregated, err := discoveryMedia(rq.http, true)
	rq.media = m
	if err != nil {
		return err
	}
	d := rq.server.discovery()
	named := slices.DeleteFunc(slices.Clone(d.groups), func(g servedGroup) bool { return g.name == "" })
	if aggregated {
		return rq.respondAggregated(w, named)
	}
	list := &metav1.APIGroupList{Groups: make([]metav1.APIGroup, len(named))}
	for i := range named {
		list.Groups[i] = named[i].apiGroup()
	}
	return rq.respondBody(w, http.StatusOK, list, schema.GroupVersionKind{Version: "v1", Kind: "APIGroupList"})
}

// serveCoreVersions answers GET /api.
func serveCoreVersions(w http.ResponseWriter, rq *request) error {
	m, aggregated, err := discoveryMedia(rq.http, true)
	rq.media = m
	if err != nil {
		return err
	}
	core := rq.server.discovery().group("")
	if aggregated {
		return rq.respondAggregated(w, []servedGroup{*core})
	}
	list := &metav1.APIVersions{ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
		{ClientCIDR: "0.0.0.0/0", ServerAddress: rq.http.Host},
	}}
	for _, v := range core.versions {
		list.Versions = append(list.Versions, v.name)
	}
	return rq.respondBody(w, http.StatusOK, list, schema.GroupVersionKind{Kind: "APIVersions"})
}

// serveGroup answers GET /apis/GROUP.
func serveGroup(name string) handler {
	return func(w http.ResponseWriter, rq *request) error {
		if err := rq.negotiateDiscovery(); err != nil {
			return err
		}
		g := rq.server.discovery().group(name)
		if g == nil {
			return errNoResource
		}
		return rq.respondBody(w, http.StatusOK, new(g.apiGroup()), schema.GroupVersionKind{Version: "v1", Kind: "APIGroup"})
	}
}

// serveResources answers GET /apis/GROUP/VERSION and GET /api/VERSION. The latter has an
// answer without apiVersion, as it had in the first release.
func serveResources(group, version string) handler {
	return func(w http.ResponseWriter, rq *request) error {
		if err := rq.negotiateDiscovery(); err != nil {
			return err
		}
		d := rq.server.discovery()
		v := d.version(group, version)
		if v == nil {
			return errNoResource
		}
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "APIResourceList"}
		if group == "" {
			gvk.Version = ""
		}
		return rq.respondBody(w, http.StatusOK, &metav1.APIResourceList{
			GroupVersion: schema.GroupVersion{Group: group, Version: version}.String(),
			APIResources: d.catalog.apiResources(v),
		}, gvk)
	}
}

// negotiateDiscovery is discoveryMedia where there is no aggregated document.
func (rq *request) negotiateDiscovery() (err error) {
	rq.media, _, err = discoveryMedia(rq.http, false)
	return err
}
