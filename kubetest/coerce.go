package kubetest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// coercion gives a custom resource that has been read the form that Go types give to built-in
// kinds: it removes what the schema does not have. It returns the paths of what it has removed
// if report is true.
type coercion func(u *unstructured.Unstructured, report bool) (unknown []string, err error)

// run coerces an object that a decoder has returned with err, and returns what is wrong with
// it. A nil coercion changes nothing.
func (c coercion) run(obj runtime.Object, err error, report bool) error {
	u, ok := obj.(*unstructured.Unstructured)
	if c == nil || !ok {
		return err
	}
	var problems []error
	if err != nil {
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return err
		}
		problems = strictErr.Errors()
	}
	unknown, err := c(u, report)
	if err != nil {
		return err
	}
	for _, path := range unknown {
		problems = append(problems, fmt.Errorf("unknown field %q", path))
	}
	if len(problems) == 0 {
		return nil
	}
	return runtime.NewStrictDecodingError(problems)
}
