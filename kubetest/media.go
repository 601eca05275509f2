package kubetest

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// format is an encoding of objects.
type format uint8

const (
	formatJSON format = iota
	formatYAML
	formatProtobuf
)

// mediaTypes are the media types of the formats.
var mediaTypes = [...]string{
	formatJSON:     "application/json",
	formatYAML:     "application/yaml",
	formatProtobuf: "application/vnd.kubernetes.protobuf",
}

// String returns the media type.
func (f format) String() string { return mediaTypes[f] }

// Names of the forms that an object can be asked for in, besides its own.
const (
	asMetadata     = "PartialObjectMetadata"
	asMetadataList = "PartialObjectMetadataList"
	asTable        = "Table"
)

// media is the form that the client wants an answer in.
type media struct {
	format format
	pretty bool
	// as is the kind to convert to, in version asVersion of meta.k8s.io; empty for the object itself.
	as, asVersion string
}

// metadataOnly reports whether only metadata is wanted.
func (m media) metadataOnly() bool { return m.as == asMetadata || m.as == asMetadataList }

// formatsOf are the formats that objects of k are sent and read in; a nil k is any answer that
// is no object of a kind.
func formatsOf(k *kind) []format {
	if k != nil && k.jsonOnly() {
		return []format{formatJSON, formatYAML}
	}
	return []format{formatJSON, formatYAML, formatProtobuf}
}

// everyFormat is what can be asked for where the answer is not the object itself.
var everyFormat = formatsOf(nil)

// negotiate returns the form of the answer to r, as the Accept header has it. What the server
// does not have is skipped, and that nothing is left is an error.
func negotiate(r *http.Request, k *kind) (media, error) {
	accept := r.Header.Get("Accept")
	pretty := wantsPretty(r)
	if accept == "" {
		return media{format: formatJSON, pretty: pretty}, nil
	}
	if (k == nil || !k.custom) && !producible(accept) {
		return media{format: formatJSON, pretty: pretty}, errUnavailable
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		for _, f := range everyFormat {
			if m, ok := acceptable(clause, f, k); ok {
				m.pretty = m.pretty || pretty
				return m, nil
			}
		}
	}
	return media{}, notAcceptable(k)
}

// producible reports whether an Accept header names one of the media types, parameters aside,
// which the router of a real server looks at first.
func producible(accept string) bool {
	for _, clause := range strings.Split(accept, ",") {
		mediaType, _, _ := strings.Cut(clause, ";")
		if mediaType = strings.TrimSpace(mediaType); mediaType == "*/*" || slices.Contains(mediaTypes[:], mediaType) {
			return true
		}
	}
	return false
}

var errUnavailable = &statusError{metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
	Message: "406: Not Acceptable\n\nAvailable representations: " + strings.Join(mediaTypes[:], ", "),
	Details: &metav1.StatusDetails{},
}}

// acceptable returns the form that clause asks for in format f, if there is that.
func acceptable(clause goautoneg.Accept, f format, k *kind) (media, bool) {
	major, minor, _ := strings.Cut(f.String(), "/")
	if clause.Type != "*" && clause.Type != major || clause.SubType != "*" && clause.SubType != minor || clause.Type == "*" && clause.SubType != "*" {
		return media{}, false
	}
	if stream := clause.Params["stream"]; stream != "" && (stream != "watch" || f == formatYAML) {
		return media{}, false
	}
	if sv := clause.Params["sv"]; sv != "" && sv != "v1" {
		return media{}, false
	}
	m := media{format: f, pretty: clause.Params["pretty"] == "1"}
	as, group, version := clause.Params["as"], clause.Params["g"], clause.Params["v"]
	if as == "" && group == "" && version == "" {
		return m, k == nil || f != formatProtobuf || !k.jsonOnly()
	}
	m.as, m.asVersion = as, version
	return m, k != nil && group == metav1.GroupName && (version == "v1" || version == "v1beta1") && converts(as, f)
}

// converts reports whether objects can be shown as a kind in a format.
func converts(as string, f format) bool {
	switch as {
	case asMetadata, asMetadataList:
		return true
	case asTable:
		return f != formatProtobuf
	}
	return false
}

// wantsPretty reports whether a person is likely to read the answer.
func wantsPretty(r *http.Request) bool {
	if wish := r.URL.Query().Get("pretty"); wish != "" {
		pretty, err := strconv.ParseBool(wish)
		return err == nil && pretty
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// bodyFormat returns the format of the body of r.
func bodyFormat(r *http.Request, formats []format) (format, error) {
	contentType := r.Header.Get("Content-Type")
	if contentType == "" {
		return formatJSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	for _, f := range formats {
		if err == nil && mediaType == f.String() {
			return f, nil
		}
	}
	return 0, unsupportedMediaType(names(formats))
}

func names(formats []format) []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = f.String()
	}
	return list
}

func notAcceptable(k *kind) error {
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join(names(formatsOf(k)), ", "),
	}}
}

// notAcceptableStream is notAcceptable of a watch.
func notAcceptableStream(k *kind) error {
	var streams []string
	for _, f := range formatsOf(k) {
		if f != formatYAML {
			streams = append(streams, f.String()+";stream=watch")
		}
	}
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join(streams, ", "),
	}}
}

func unsupportedMediaType(supported []string) error {
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(supported, ", "),
	}}
}

// statusError is an error whose Status is sent as it is; apimachinery's errors have one, too.
type statusError struct{ status metav1.Status }

func (e *statusError) Error() string { return e.status.Message }

// Status implements apierrors.APIStatus.
func (e *statusError) Status() metav1.Status { return e.status }

var errNoForm = errors.New("kubetest: no such form")
