package events

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The server's limits, in bytes.
const (
	maxWord = 128  // reason, action, reporting instance
	maxNote = 1024 // note
)

// About returns the reference that an Event about obj needs. The version of obj is not part of it.
func About[K any](kind resource.Kind[K], obj *K) corev1.ObjectReference {
	d := kind.Descriptor()
	ref := corev1.ObjectReference{APIVersion: d.APIVersion(), Kind: d.Kind}
	if m, ok := any(obj).(metav1.Object); ok {
		ref.Namespace, ref.Name, ref.UID = m.GetNamespace(), m.GetName(), m.GetUID()
	}
	return ref
}

// validate finds what the server would refuse.
func (r *Recorder) validate(regarding *corev1.ObjectReference, e *Event) error {
	if problems := validation.IsQualifiedName(r.controller); len(problems) > 0 {
		return fmt.Errorf("the name %q of the controller, which NewRecorder was given, is not one: %s", r.controller, problems[0])
	}
	if regarding.Kind == "" || regarding.Name == "" {
		return errors.New("the reference to what it is about names no kind or no object; About makes one")
	}
	for _, word := range []struct{ field, value string }{{"Reason", e.Reason}, {"Action", e.Action}} {
		switch {
		case word.value == "":
			return fmt.Errorf("field Event.%s is empty; it is required", word.field)
		case len(word.value) > maxWord:
			return fmt.Errorf("field Event.%s %.20q… has %d bytes; the server takes at most %d", word.field, word.value, len(word.value), maxWord)
		}
	}
	return nil
}

// cut shortens s to at most limit bytes, at the border of a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	limit -= len(ellipsis)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + ellipsis
}

// eventName names an Event after its object, as kubectl users know it. Names of objects can be
// longer than the name of an Event, and have characters that it must not have.
func eventName(object string, now time.Time) string {
	suffix := "." + strconv.FormatInt(now.UnixNano(), 16)
	object = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, object)
	object = object[:min(len(object), validation.DNS1123SubdomainMaxLength-len(suffix))]
	if name := object + suffix; len(validation.IsDNS1123Subdomain(name)) == 0 {
		return name
	}
	return "event" + suffix // of a name such as "-.-"
}
