package kubetest

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reportSkipped reports fields that were set and not validated.
func (rq *request) reportSkipped(fields []string) {
	if len(fields) > 0 {
		rq.unvalidated("a real server validates " + strings.Join(fields, ", "))
	}
}

// unvalidated reports what a real server might have refused in the object of a request.
func (rq *request) unvalidated(what string) {
	if !rq.server.options.Strict {
		return
	}
	text := "kubetest: " + rq.verb + " of " + rq.kind.groupKind().String() + " " + rq.objectNamespace() + "/" + rq.name +
		": not validated: " + what + ", kubetest does not"
	if rq.server.options.report != nil {
		rq.server.options.report(text)
		return
	}
	rq.server.options.Logger.Warn(text)
}

// metadataOnly reports whether only the metadata of a kind is validated.
func metadataOnly(rules map[schema.GroupKind]rules, s *strategy, gk schema.GroupKind) bool {
	_, ruled := rules[gk]
	return !ruled && s.validate == nil && s.validateUpdate == nil
}
