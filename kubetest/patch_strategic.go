package kubetest

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	strictjson "sigs.k8s.io/json"
)

// patchStrategically applies a strategic merge patch, which knows the lists of built-in kinds
// that are maps by a key.
func (p *patching) patchStrategically(t *patchTarget, live runtime.Object) (runtime.Object, error) {
	named := shallowCopy(live)
	setTypeMeta(named, t.gvk)
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(named)
	if err != nil {
		return nil, err
	}
	change, problems, err := p.strategicPatch()
	if err != nil {
		return nil, err
	}
	obj := t.empty()
	after, err := strategicpatch.StrategicMergeMapPatch(before, change, obj)
	if err != nil {
		return nil, strategicError(err)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, obj, p.strict())
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok {
		problems, err = append(problems, strictErr.Errors()...), nil
	}
	if err != nil {
		return nil, invalidPatch(fmt.Sprintf("%+v", change), err.Error())
	}
	if err := p.report(problems, fmt.Sprintf("%+v", change)); err != nil {
		return nil, err
	}
	t.defaults(obj)
	return t.clean(obj), nil
}

// strategicPatch reads the patch, and returns what strict decoding finds in it.
func (p *patching) strategicPatch() (change map[string]any, problems []error, err error) {
	change = map[string]any{}
	if p.strict() {
		problems, err = strictjson.UnmarshalStrict(p.body, &change)
	} else {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(p.body, &change)
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return change, problems, nil
}

// strategicError gives an error of the patch the answer that it deserves.
func strategicError(err error) error {
	is := func(list ...error) bool {
		return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case is(mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return apierrors.NewBadRequest(err.Error())
	case is(mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return unprocessable(err)
	}
	return err
}
