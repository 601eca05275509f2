package kubetest

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// notAConversion says that an answer cannot be shown as what the client asked for.
func notAConversion(format string, args ...any) error {
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: "NotAcceptable",
		Message: fmt.Sprintf(format, args...),
	}}
}

// respondTable answers with items as rows of a table.
func (rq *request) respondTable(w http.ResponseWriter, code int, items []*object, meta metav1.ListMeta) error {
	return notAConversion("%s cannot be shown as a table", rq.kind.Plural)
}
