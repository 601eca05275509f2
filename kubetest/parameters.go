package kubetest

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parameters reads the query into options.
func (rq *request) parameters(options runtime.Object) error {
	if err := internalscheme.ParameterCodec.DecodeParameters(rq.query, metaV1, options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// invalidOptions is the refusal of options of a kind, nil if nothing is wrong with them.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// createOptions reads the parameters of a creation.
func (rq *request) createOptions() error {
	o := &metav1.CreateOptions{}
	if err := rq.parameters(o); err != nil {
		return err
	}
	if err := invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(o)); err != nil {
		return err
	}
	rq.writing(o.DryRun, o.FieldManager, o.FieldValidation)
	return nil
}

// updateOptions reads the parameters of a replacement.
func (rq *request) updateOptions() error {
	o := &metav1.UpdateOptions{}
	if err := rq.parameters(o); err != nil {
		return err
	}
	if err := invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(o)); err != nil {
		return err
	}
	rq.writing(o.DryRun, o.FieldManager, o.FieldValidation)
	return nil
}

// writing keeps what the parameters of all writes have in common.
func (rq *request) writing(dryRun []string, manager, validation string) {
	rq.dryRun = len(dryRun) > 0
	rq.fieldManager = manager
	if manager == "" {
		rq.fieldManager = managerOf(rq.http.UserAgent())
	}
	rq.validation = validation
	if validation == "" {
		rq.validation = metav1.FieldValidationWarn
	}
}

// deleteOptions reads what a deletion should be like from the body, or from the query if
// there is no body.
func (rq *request) deleteOptions() (*metav1.DeleteOptions, error) {
	o := &metav1.DeleteOptions{}
	body, err := rq.readBody()
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		err = rq.decodeDeleteOptions(body, o)
	} else {
		err = rq.parameters(o)
	}
	if err != nil {
		return nil, err
	}
	o.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	if err := invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(o)); err != nil {
		return nil, err
	}
	rq.dryRun = len(o.DryRun) > 0
	return o, nil
}

// decodeDeleteOptions reads a body. The version of any group does, as clients once sent that
// of the object.
func (rq *request) decodeDeleteOptions(body []byte, into *metav1.DeleteOptions) error {
	f, err := bodyFormat(rq.http, everyFormat)
	if err != nil {
		return err
	}
	want := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	_, gvk, err := decoder(f, false, &objectTypes{into: into, want: want}).Decode(body, &want, into)
	if err != nil && gvk != nil && gvk.Kind == want.Kind {
		_, _, err = decoder(f, false, &objectTypes{into: into, want: *gvk}).Decode(body, gvk, into)
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// listOptions reads the parameters of a list or a watch. A name in the path, which only
// the watch of old has, selects that object.
func (rq *request) listOptions() (*internalversion.ListOptions, error) {
	o := &internalversion.ListOptions{}
	if err := rq.parameters(o); err != nil {
		return nil, err
	}
	internalversion.SetListOptionsDefaults(o, true)
	if err := invalidOptions("ListOptions", internalvalidation.ValidateListOptions(o, true)); err != nil {
		return nil, err
	}
	if o.FieldSelector != nil {
		s, err := o.FieldSelector.Transform(rq.kind.fieldLabel)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		o.FieldSelector = s
	}
	if rq.name == "" {
		return o, nil
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		if name, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); !ok || name != rq.name {
			return nil, apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		return o, nil
	}
	o.FieldSelector = fields.OneTermEqualSelector("metadata.name", rq.name)
	return o, nil
}
