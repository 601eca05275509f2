package wait

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ErrFailed is what the error of a condition wraps that cannot come true any more, such as
// [JobComplete] of a Job that has failed.
var ErrFailed = errors.New("it has failed")

// Condition says whether what is waited for holds for an object; obj is nil while there is
// none. An error says that it will never hold. It must not change obj.
type Condition[K any] func(obj *K) (done bool, err error)

// Exists holds when there is an object.
func Exists[K any]() Condition[K] {
	return func(obj *K) (bool, error) { return obj != nil, nil }
}

// Deleted holds when there is no object with this uid: none at all, or another one of the same
// name. An empty uid stands for any object.
func Deleted[K any](uid types.UID) Condition[K] {
	return func(obj *K) (bool, error) {
		if obj == nil {
			return true, nil
		}
		if uid == "" {
			return false, nil
		}
		m, ok := any(obj).(metav1.Object)
		if !ok {
			return false, fmt.Errorf("%T has no metadata, and no uid to tell it by", obj)
		}
		return m.GetUID() != uid, nil
	}
}

// And holds when all of the conditions hold. It fails when one of them does.
func And[K any](conditions ...Condition[K]) Condition[K] {
	return func(obj *K) (bool, error) {
		all := true
		for _, c := range conditions {
			done, err := c(obj)
			if err != nil {
				return false, err
			}
			all = all && done
		}
		return all, nil
	}
}

// Or holds when one of the conditions holds. It fails when all of them do.
func Or[K any](conditions ...Condition[K]) Condition[K] {
	return func(obj *K) (bool, error) {
		var failures []error
		for _, c := range conditions {
			done, err := c(obj)
			if done && err == nil {
				return true, nil
			}
			if err != nil {
				failures = append(failures, err)
			}
		}
		if len(failures) < len(conditions) || len(conditions) == 0 {
			return false, nil
		}
		return false, errors.Join(failures...)
	}
}

// Not holds when the condition does not: also when it never will.
func Not[K any](c Condition[K]) Condition[K] {
	return func(obj *K) (bool, error) {
		done, err := c(obj)
		return !done || err != nil, nil
	}
}

// failed is the error of a condition that cannot come true any more.
func failed(what, reason, message string) error {
	text := what
	for _, more := range []string{reason, message} {
		if more != "" {
			text += ": " + more
		}
	}
	return fmt.Errorf("%w: %s", ErrFailed, text)
}
