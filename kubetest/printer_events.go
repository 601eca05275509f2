package kubetest

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func eventsCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"events": func(obj runtime.Object) []any {
			if e, ok := obj.(*eventsv1.Event); ok {
				return eventCells(coreEvent(e))
			}
			return cells(eventCells)(obj)
		},
	}
}

// coreEvent returns an event as the core group has it.
func coreEvent(e *eventsv1.Event) *corev1.Event {
	c := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type, Action: e.Action,
		EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount,
	}
	if e.Series != nil {
		c.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return c
}

func eventCells(e *corev1.Event) []any {
	first := age(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = age(metav1.Time(e.EventTime))
	}
	last, count := age(e.LastTimestamp), max(e.Count, 1)
	if e.LastTimestamp.IsZero() {
		last = first
	}
	if e.Series != nil {
		last, count = age(metav1.Time(e.Series.LastObservedTime)), e.Series.Count
	}
	target := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		target += "/" + e.InvolvedObject.Name
	}
	source := cmp.Or(e.Source.Component, e.ReportingController)
	if host := cmp.Or(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{
		last, e.Type, e.Reason, target, e.InvolvedObject.FieldPath, source, strings.TrimSpace(e.Message), first, int64(count), e.Name,
	}
}
