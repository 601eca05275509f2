package replay

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// discovery serves what REST mappers ask for.
func (s *Server) discovery() {
	k := s.formats[0].kind
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	core := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1", APIResources: []metav1.APIResource{}}
	if k.Group == "" {
		core.APIResources = k.resources()
	} else {
		version := metav1.GroupVersionForDiscovery{GroupVersion: k.APIVersion(), Version: k.Version}
		group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: k.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
		groups.Groups = append(groups.Groups, group)
		s.static("/apis/"+k.Group, group)
		s.static(k.root(), metav1.APIResourceList{TypeMeta: core.TypeMeta, GroupVersion: k.APIVersion(), APIResources: k.resources()})
	}
	s.static("/api", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	s.static("/apis", groups)
	s.static("/api/v1", core)
	s.static("/version", map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
}

// resources are k and its status, as discovery has them.
func (k Kind) resources() []metav1.APIResource {
	verbs := metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}
	singular := strings.ToLower(k.Kind)
	return []metav1.APIResource{
		{Name: k.Plural, SingularName: singular, Namespaced: true, Kind: k.Kind, Verbs: verbs},
		{Name: k.Plural + "/status", Namespaced: true, Kind: k.Kind, Verbs: metav1.Verbs{"get", "patch", "update"}},
	}
}

// static serves a value as JSON.
func (s *Server) static(path string, value any) {
	body := must(json.Marshal(value))
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Write(body)
	})
}
