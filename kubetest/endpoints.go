package kubetest

import (
	"net/http"
	"strings"
)

// endpoint returns what answers requests to a path that is not about objects: discovery,
// OpenAPI, health and version. It returns nil for every other path, and for groups and versions
// that are not served.
func (s *Server) endpoint(path string) handler {
	switch first, rest, _ := strings.Cut(strings.Trim(path, "/"), "/"); first {
	case "":
		return serveIndex
	case "api":
		return s.coreEndpoint(rest)
	case "apis":
		return s.groupEndpoint(rest)
	case "version":
		return exactly(rest, serveVersion)
	case "healthz", "livez", "readyz":
		return healthEndpoint(first, rest)
	case "openapi":
		return openAPIEndpoint(rest)
	}
	return nil
}

// exactly returns h if nothing follows in the path.
func exactly(rest string, h handler) handler {
	if rest != "" {
		return nil
	}
	return h
}

func (s *Server) coreEndpoint(version string) handler {
	switch {
	case version == "":
		return onlyGet(serveCoreVersions)
	case s.discovery().version("", version) != nil:
		return onlyGet(serveResources("", version))
	}
	return nil
}

func (s *Server) groupEndpoint(rest string) handler {
	group, version, _ := strings.Cut(rest, "/")
	d := s.discovery()
	switch {
	case group == "":
		return onlyGet(serveGroups)
	case version == "" && d.group(group) != nil:
		return onlyGet(serveGroup(group))
	case version != "" && d.version(group, version) != nil:
		return onlyGet(serveResources(group, version))
	}
	return nil
}

// onlyGet refuses all methods but GET.
func onlyGet(h handler) handler {
	return func(w http.ResponseWriter, rq *request) error {
		if rq.http.Method != http.MethodGet {
			return errNoMethod
		}
		return h(w, rq)
	}
}
