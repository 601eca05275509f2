package kubetest

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// maxBody is the size of the largest body that is read, as in a real server.
const maxBody = 3 << 20

// readBody returns the body of the request.
func (rq *request) readBody() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(rq.http.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return data, nil
}

// decodeObject reads the body as an object of the request's kind, and fills in its defaults.
func (rq *request) decodeObject() (runtime.Object, error) {
	f, err := bodyFormat(rq.http, formatsOf(rq.kind))
	if err != nil {
		return nil, err
	}
	data, err := rq.readBody()
	if err != nil {
		return nil, err
	}
	obj, err := rq.decode(data, f, rq.kind.new(), rq.kind.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	rq.kind.strategy.setDefaults(obj)
	return obj, nil
}

// decodeBody reads the body of a subresource that has a kind of its own.
// A body may say that it is of another kind that is the same but for its name.
func (rq *request) decodeBody(into runtime.Object, gvk schema.GroupVersionKind, others ...schema.GroupVersionKind) (runtime.Object, error) {
	f, err := bodyFormat(rq.http, everyFormat)
	if err != nil {
		return nil, err
	}
	data, err := rq.readBody()
	if err != nil {
		return nil, err
	}
	obj, err := rq.decode(data, f, into, gvk)
	for _, other := range others {
		if err == nil {
			break
		}
		if same, otherErr := rq.decode(data, f, into, other); otherErr == nil {
			return same, nil
		}
	}
	return obj, err
}

// decode reads data into an empty object of kind want. Unknown and duplicate fields are
// treated as the fieldValidation parameter says.
func (rq *request) decode(data []byte, f format, into runtime.Object, want schema.GroupVersionKind) (runtime.Object, error) {
	strict := rq.validation != metav1.FieldValidationIgnore
	types := &objectTypes{catalog: rq.server.kinds.catalog(), into: into, want: want}
	obj, gvk, err := decoder(f, strict, types).Decode(data, &want, into)
	if rq.kind != nil {
		err = rq.kind.strategy.coerce.run(obj, err, strict)
	}
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok && obj != nil && rq.validation != metav1.FieldValidationStrict {
		rq.warnUnknown(strictErr.Errors())
		err = nil
	}
	if err != nil {
		return nil, decodeError(err, gvk, want, data)
	}
	if obj != into {
		err := fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", gvk.Version, gvk.Kind, internalPackage(want.Group), want.Kind)
		return nil, decodeError(err, gvk, want, data)
	}
	if gv := gvk.GroupVersion(); gv != want.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gv, want.GroupVersion()))
	}
	if _, custom := obj.(*unstructured.Unstructured); !custom {
		setTypeMeta(obj, schema.GroupVersionKind{})
	}
	return obj, nil
}

// internalPackage is the Go package that a real server converts objects of a group to.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// warnUnknown turns what strict decoding has found into warnings.
func (rq *request) warnUnknown(errs []error) {
	for _, err := range errs {
		for _, line := range yamlErrors(err.Error()) {
			rq.warn(line)
		}
	}
}

// yamlErrors returns the lines of an error of the YAML decoder, or the text of any other one.
func yamlErrors(text string) []string {
	for _, prefix := range []string{"yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			lines := strings.Split(rest, "\n")
			for i := range lines {
				lines[i] = strings.TrimSpace(lines[i])
			}
			return lines
		}
	}
	return []string{text}
}

// decodeError says that a body is not what it has to be.
func decodeError(err error, found *schema.GroupVersionKind, want schema.GroupVersionKind, data []byte) error {
	if found != nil && found.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", found.Kind, found.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(data)))
}

// summary returns the beginning of a body, as hexadecimal digits if it is not JSON.
func summary(data []byte) string {
	const limit = 30
	if len(data) == 0 {
		return "<empty>"
	}
	show := func(b []byte) string { return string(b) }
	if data[0] != '{' {
		show = hex.EncodeToString
	}
	if len(data) > limit {
		return show(data[:limit]) + " ..."
	}
	return show(data)
}

// decoder returns a decoder of a format.
func decoder(f format, strict bool, types *objectTypes) runtime.Decoder {
	if f == formatProtobuf {
		return protobuf.NewSerializer(types, types)
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{Yaml: f == formatYAML, Strict: strict})
}

// objectTypes finds the Go types of kinds for a decoder: that of the object to decode into, and
// those of served kinds, so that an error can tell what came in place of it.
type objectTypes struct {
	catalog *catalog // nil for none
	into    runtime.Object
	want    schema.GroupVersionKind
}

// New implements runtime.ObjectCreater.
func (t *objectTypes) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if t.catalog != nil && t.catalog.byKind[gvk] != nil {
		return t.catalog.byKind[gvk].new(), nil
	}
	return nil, runtime.NewNotRegisteredErrForKind("pkg/runtime/scheme.go:111", gvk)
}

// ObjectKinds implements runtime.ObjectTyper. A decoder asks for the object to decode into only.
func (t *objectTypes) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{t.want}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (t *objectTypes) Recognizes(gvk schema.GroupVersionKind) bool {
	return gvk == t.want || t.catalog != nil && t.catalog.byKind[gvk] != nil
}

// discardBody reads what is left of a body, without which a connection cannot be used again.
func discardBody(r *http.Request) {
	if r.Body != nil {
		io.Copy(io.Discard, io.LimitReader(r.Body, maxBody))
	}
}
