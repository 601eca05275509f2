package kubetest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// applyConfiguration does server-side apply. live is nil if there is no object yet.
func (p *patching) applyConfiguration(t *patchTarget, live runtime.Object) (runtime.Object, error) {
	if live == nil {
		live = t.empty()
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(p.body, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	obj, err := t.manager.Apply(live, wanted, p.rq.fieldManager, p.force)
	if err != nil {
		return nil, err
	}
	if err := p.checkDuplicates(); err != nil {
		return nil, err
	}
	return t.clean(obj), nil
}

// checkDuplicates treats fields that stand in an apply patch twice as the fieldValidation
// parameter says.
func (p *patching) checkDuplicates() error {
	if !p.strict() {
		return nil
	}
	err := yaml.UnmarshalStrict(p.body, &map[string]any{})
	if err == nil {
		return nil
	}
	if p.rq.validation == metav1.FieldValidationStrict {
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	}
	p.rq.warnUnknown([]error{err})
	return nil
}
