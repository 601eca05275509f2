package kubetest

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// respond answers with an object of the request's kind.
func (rq *request) respond(w http.ResponseWriter, code int, o *object) error {
	if rq.media.as == asTable {
		return rq.respondTable(w, code, []*object{o}, metav1.ListMeta{ResourceVersion: o.meta.GetResourceVersion()})
	}
	if rq.media.as == asMetadataList {
		return notAConversion("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", rq.kind.internalType(""))
	}
	data, err := rq.kind.document(o, rq.media)
	if err != nil {
		return err
	}
	rq.write(w, code, data)
	return nil
}

// respondList answers with a list of objects of the request's kind.
func (rq *request) respondList(w http.ResponseWriter, items []*object, meta metav1.ListMeta) error {
	if rq.media.as == asTable {
		return rq.respondTable(w, http.StatusOK, items, meta)
	}
	if rq.media.as == asMetadata {
		return notAConversion("you requested PartialObjectMetadata, but the requested object is a list (%s)", rq.kind.internalType("List"))
	}
	l := listOf{kind: rq.kind, meta: meta, items: items}
	data, err := l.encode(rq.media)
	if err != nil {
		return err
	}
	rq.write(w, http.StatusOK, data)
	return nil
}

// internalType is the Go type that objects have inside a real server.
func (k *kind) internalType(suffix string) string {
	if k.custom {
		return "*unstructured.Unstructured" + suffix
	}
	return "*" + internalPackage(k.Group) + "." + k.Kind + suffix
}

// respondBody answers with an object that is no object of the request's kind, such as the
// body of a subresource or a Status. It writes apiVersion and kind into obj.
func (rq *request) respondBody(w http.ResponseWriter, code int, obj runtime.Object, gvk schema.GroupVersionKind) error {
	data, err := encodeBody(obj, gvk, rq.media)
	if err != nil {
		return err
	}
	rq.write(w, code, data)
	return nil
}

// write sends the answer, after what follows from the request has happened.
func (rq *request) write(w http.ResponseWriter, code int, data []byte) {
	if rq.verb != verbGet && rq.verb != verbList && rq.verb != verbWatch {
		rq.server.life.settle()
	}
	h := w.Header()
	h.Set("Content-Type", rq.media.format.String())
	rq.writeWarnings(h)
	w.WriteHeader(code)
	w.Write(data)
}

// writeWarnings adds a Warning header for each warning, once per text.
func (rq *request) writeWarnings(h http.Header) {
	seen := map[string]bool{}
	for _, text := range rq.warnings {
		if seen[text] {
			continue
		}
		seen[text] = true
		if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			h.Add("Warning", header)
		}
	}
}

// fail answers with the Status of err.
func (rq *request) fail(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	rq.media.as = ""
	data, err := encodeBody(&status, statusKind, rq.media)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	rq.write(w, int(status.Code), data)
}

var statusKind = schema.GroupVersionKind{Version: "v1", Kind: "Status"}

// statusOf returns the Status that stands for err.
func statusOf(err error) metav1.Status {
	if s, ok := err.(apierrors.APIStatus); ok {
		status := s.Status()
		if status.Status == "" {
			status.Status = metav1.StatusFailure
		}
		if status.Code == 0 {
			status.Code = http.StatusInternalServerError
		}
		return status
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
		Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}
}
