package kubetest

import (
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// conversion turns objects of one version of a kind into another and back. The functions may
// change their argument and keep parts of it.
type conversion struct {
	load  func(stored runtime.Object) runtime.Object
	store func(obj runtime.Object) runtime.Object
}

// builtinConversion returns how objects of k are converted to and from the version that they
// are stored in, which is that of the storage kind.
func builtinConversion(k, storage *kind) conversion {
	switch k.GroupVersionKind() {
	case eventsv1.SchemeGroupVersion.WithKind("Event"):
		return conversion{
			load:  func(obj runtime.Object) runtime.Object { return newEvent(obj.(*corev1.Event)) },
			store: func(obj runtime.Object) runtime.Object { return oldEvent(obj.(*eventsv1.Event)) },
		}
	case autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"):
		return autoscalerConversion()
	}
	return conversion{
		load:  func(obj runtime.Object) runtime.Object { return sameFields(obj, k.new()) },
		store: func(obj runtime.Object) runtime.Object { return sameFields(obj, storage.new()) },
	}
}

// sameFields copies from into an empty object of another version, whose fields have the same
// names.
func sameFields(from, to runtime.Object) runtime.Object {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		panic(fmt.Sprintf("kubetest: convert %T to %T: %v", from, to, err)) // the types are generated from one
	}
	setTypeMeta(to, schema.GroupVersionKind{})
	return to
}

// newEvent returns an event of the core group as one of events.k8s.io.
func newEvent(e *corev1.Event) *eventsv1.Event {
	n := &eventsv1.Event{
		ObjectMeta:               e.ObjectMeta,
		EventTime:                e.EventTime,
		ReportingController:      e.ReportingController,
		ReportingInstance:        e.ReportingInstance,
		Action:                   e.Action,
		Reason:                   e.Reason,
		Regarding:                e.InvolvedObject,
		Related:                  e.Related,
		Note:                     e.Message,
		Type:                     e.Type,
		DeprecatedSource:         e.Source,
		DeprecatedFirstTimestamp: e.FirstTimestamp,
		DeprecatedLastTimestamp:  e.LastTimestamp,
		DeprecatedCount:          e.Count,
	}
	if e.Series != nil {
		n.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return n
}

// oldEvent is the reverse of newEvent.
func oldEvent(n *eventsv1.Event) *corev1.Event {
	e := &corev1.Event{
		ObjectMeta:          n.ObjectMeta,
		EventTime:           n.EventTime,
		ReportingController: n.ReportingController,
		ReportingInstance:   n.ReportingInstance,
		Action:              n.Action,
		Reason:              n.Reason,
		InvolvedObject:      n.Regarding,
		Related:             n.Related,
		Message:             n.Note,
		Type:                n.Type,
		Source:              n.DeprecatedSource,
		FirstTimestamp:      n.DeprecatedFirstTimestamp,
		LastTimestamp:       n.DeprecatedLastTimestamp,
		Count:               n.DeprecatedCount,
	}
	if n.Series != nil {
		e.Series = &corev1.EventSeries{Count: n.Series.Count, LastObservedTime: n.Series.LastObservedTime}
	}
	return e
}
