package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// patch answers PATCH on an object, or on a subresource whose bodies are objects of the kind.
func patch(w http.ResponseWriter, rq *request) error {
	p, err := rq.readPatch()
	if err != nil {
		return err
	}
	target, err := rq.patchTarget()
	if err != nil {
		return err
	}
	o, created, err := rq.modify(modification{
		creates: p.mediaType == types.ApplyYAMLPatchType && rq.subresource == "",
		change:  func(live runtime.Object) (runtime.Object, error) { return p.change(target, live) },
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return rq.respond(w, code, o)
}

// patching is a patch that was asked for.
type patching struct {
	rq        *request
	mediaType types.PatchType
	body      []byte
	force     bool // of an apply patch: take fields from other managers
}

// patchTarget is what a patch is applied to.
type patchTarget struct {
	gvk      schema.GroupVersionKind
	empty    func() runtime.Object
	defaults func(runtime.Object)
	coerce   coercion
	manager  *managedfields.FieldManager
	custom   bool
}

// patchTarget returns what patches to the objects of the request are applied to.
func (rq *request) patchTarget() (*patchTarget, error) {
	manager, err := rq.server.fieldManager(rq.kind, rq.subresource)
	if err != nil {
		return nil, err
	}
	return &patchTarget{
		gvk: rq.kind.GroupVersionKind(), empty: rq.kind.empty, defaults: rq.kind.strategy.setDefaults,
		coerce: rq.kind.strategy.coerce, manager: manager, custom: rq.kind.custom,
	}, nil
}

// patchTypes are the media types of the patches that objects of k understand.
func patchTypes(k *kind) []string {
	if k.custom {
		return []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	}
	return []string{
		string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
	}
}

// readPatch reads the patch and its parameters.
func (rq *request) readPatch() (*patching, error) {
	contentType := rq.http.Header.Get("Content-Type")
	if i := strings.Index(contentType, ";"); i > 0 {
		contentType = contentType[:i]
	}
	supported := false
	for _, t := range patchTypes(rq.kind) {
		supported = supported || t == contentType
	}
	if !supported {
		return nil, rq.unsupportedPatch()
	}
	p := &patching{rq: rq, mediaType: types.PatchType(contentType)}
	var err error
	if p.body, err = rq.readBody(); err != nil {
		return nil, err
	}
	if p.force, err = rq.patchOptions(p.mediaType); err != nil {
		return nil, err
	}
	return p, p.checkSyntax()
}

// unsupportedPatch says that a kind does not understand a patch. Of built-in kinds that is said
// by the router of a real server, which lists nothing.
func (rq *request) unsupportedPatch() error {
	if rq.kind.custom {
		return unsupportedMediaType(patchTypes(rq.kind))
	}
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "415: Unsupported Media Type", Details: &metav1.StatusDetails{},
	}}
}

// patchOptions reads the parameters of a patch, and returns whether it is forced.
func (rq *request) patchOptions(t types.PatchType) (force bool, err error) {
	o := &metav1.PatchOptions{}
	if err := rq.parameters(o); err != nil {
		return false, err
	}
	if err := invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(o, t)); err != nil {
		return false, err
	}
	rq.writing(o.DryRun, o.FieldManager, o.FieldValidation)
	return o.Force != nil && *o.Force, nil
}

func (p *patching) checkSyntax() error {
	if p.mediaType == types.ApplyYAMLPatchType {
		if _, err := yaml.ToJSON(p.body); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
		return nil
	}
	if !json.Valid(p.body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// change returns the patched object. live is nil if there is none yet.
func (p *patching) change(t *patchTarget, live runtime.Object) (runtime.Object, error) {
	obj, err := p.apply(t, live)
	if err != nil {
		return nil, err
	}
	m := accessor(obj)
	if live == nil && m.GetUID() != "" {
		return nil, apierrors.NewConflict(p.rq.resourceName(), p.rq.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.GetUID()))
	}
	if err := p.rq.setNamespace(m); err != nil {
		return nil, err
	}
	if err := p.rq.checkName(m); err != nil {
		return nil, err
	}
	p.rq.dropDuplicateOwners(m)
	return obj, nil
}

func (p *patching) apply(t *patchTarget, live runtime.Object) (runtime.Object, error) {
	switch {
	case p.mediaType == types.ApplyYAMLPatchType:
		return p.applyConfiguration(t, live)
	case live == nil:
		return nil, p.rq.notFound(p.rq.name)
	}
	patched := p.patchJSON
	if p.mediaType == types.StrategicMergePatchType {
		patched = p.patchStrategically
	}
	obj, err := patched(t, live)
	if err != nil {
		return nil, err
	}
	return t.clean(updateFields(t.manager, live, obj, p.rq.fieldManager)), nil
}

// clean gives obj the form of objects of the kind: those of built-in kinds do not name it.
func (t *patchTarget) clean(obj runtime.Object) runtime.Object {
	if !t.custom {
		setTypeMeta(obj, schema.GroupVersionKind{})
	}
	return obj
}

// checkName refuses an object whose name is not that in the path.
func (rq *request) checkName(m metav1.Object) error {
	switch m.GetName() {
	case rq.name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", rq.name))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), rq.name))
}

// strict reports whether unknown and duplicate fields matter.
func (p *patching) strict() bool { return p.rq.validation != metav1.FieldValidationIgnore }
