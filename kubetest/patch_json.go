package kubetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	strictjson "sigs.k8s.io/json"

	"github.com/go-kube/kube/internal/codec"
)

// maxOperations is how many operations a JSON patch can have, as in a real server.
const maxOperations = 10_000

// patchJSON applies a JSON patch or a JSON merge patch.
func (p *patching) patchJSON(t *patchTarget, live runtime.Object) (runtime.Object, error) {
	before, err := codec.EncodeJSON(live)
	if err != nil {
		return nil, err
	}
	if !t.custom {
		before = withTypeMeta(t.gvk, before)
	}
	patchDocument := p.jsonPatch
	if p.mediaType == types.MergePatchType {
		patchDocument = p.mergePatch
	}
	after, problems, err := patchDocument(before)
	if err != nil {
		return nil, err
	}
	obj, found, err := t.decode(after, p.strict(), p.rq.server.kinds.catalog())
	if err != nil {
		return nil, invalidPatch(string(after), err.Error())
	}
	return obj, p.report(append(problems, found...), string(after))
}

// jsonPatchOp is an operation of a JSON patch.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// jsonPatch returns the patched document, and what strict decoding finds in the patch.
func (p *patching) jsonPatch(document []byte) (patched []byte, problems []error, err error) {
	if p.strict() {
		if problems, err = strictjson.UnmarshalStrict(p.body, &[]jsonPatchOp{}); err != nil {
			text := strings.ReplaceAll(err.Error(), "kubetest.jsonPatchOp", "handlers.jsonPatchOp") // the real server's type
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + text)
		}
		for i, problem := range problems {
			problems[i] = fmt.Errorf("json patch %w", problem)
		}
	}
	operations, err := jsonpatch.DecodePatch(p.body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	if patched, err = operations.Apply(document); err != nil {
		return nil, nil, unprocessable(err)
	}
	return patched, problems, nil
}

// mergePatch is jsonPatch for a merge patch.
func (p *patching) mergePatch(document []byte) (patched []byte, problems []error, err error) {
	if p.strict() {
		if problems, err = strictjson.UnmarshalStrict(p.body, &map[string]any{}); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
	}
	patched, err = jsonpatch.MergePatch(document, p.body)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return patched, problems, err
}

// unprocessable says that a patch cannot be applied to the object.
func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// decode reads a patched object and fills in its defaults. It returns what strict decoding
// finds apart from other errors.
func (t *patchTarget) decode(data []byte, strict bool, known *catalog) (obj runtime.Object, problems []error, err error) {
	into := t.empty()
	obj, gvk, err := decoder(formatJSON, strict, &objectTypes{catalog: known, into: into, want: t.gvk}).Decode(data, nil, into)
	err = t.coerce.run(obj, err, strict)
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		problems, err = strictErr.Errors(), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if obj != into {
		return nil, nil, fmt.Errorf("unable to decode %s into %T", gvk, into)
	}
	t.defaults(obj)
	return t.clean(obj), problems, nil
}

// report treats unknown and duplicate fields as the fieldValidation parameter says. patched is
// what an error shows.
func (p *patching) report(problems []error, patched string) error {
	if len(problems) == 0 {
		return nil
	}
	if p.rq.validation == metav1.FieldValidationStrict {
		return invalidPatch(patched, runtime.NewStrictDecodingError(problems).Error())
	}
	p.rq.warnUnknown(problems)
	return nil
}

// invalidPatch says that an object is not one any more after a patch.
func invalidPatch(patched, problem string) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), patched, problem)})
}
