package kube

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FieldValidation says what the server does with fields that it does not know or that stand
// twice in a request. The server's default is Warn.
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
type FieldValidation string

const (
	// FieldValidationIgnore drops such fields silently.
	FieldValidationIgnore FieldValidation = "Ignore"
	// FieldValidationWarn drops them with a warning.
	FieldValidationWarn FieldValidation = "Warn"
	// FieldValidationStrict refuses the request.
	FieldValidationStrict FieldValidation = "Strict"
)

// GetOptions narrows a Get.
type GetOptions struct {
	// ResourceVersion allows the server to answer from its cache: "0" is any version, a
	// version means not older than that. Empty reads the newest.
	// See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
	ResourceVersion string
}

// ListOptions narrows a list.
type ListOptions struct {
	// Labels is a label selector such as "app=web,tier!=cache".
	Labels string
	// Fields is a field selector such as "spec.nodeName=n1".
	Fields string
	// Limit is the page size; the server answers with a continue token when there is more.
	// [API.Each] defaults to 500, [API.List] to no limit. With ResourceVersion "0" an API server may send
	// everything on one page.
	Limit int64
	// Continue goes on from the page before. Selectors have to be the same, and no resource
	// version may be given.
	Continue string
	// ResourceVersion and ResourceVersionMatch say how old the answer may be. Empty reads the
	// newest; ResourceVersion "0" lets the server answer from its cache.
	// See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Timeout is how long the server may work on a page, 1 s at least; fractions of a second are
	// left out. A collection that it has not deleted by then is left in part. Zero leaves it to
	// the server, which takes a minute by default. The context bounds the whole call.
	Timeout time.Duration
}

// query writes o as the server expects it, and refuses what it would misread.
func (o *ListOptions) query() (url.Values, error) {
	q := url.Values{}
	if o == nil {
		return q, nil
	}
	if o.Limit < 0 {
		return nil, fmt.Errorf("ListOptions.Limit is %d; it has to be 0 (no limit) or more", o.Limit)
	}
	if err := setTimeout(q, "ListOptions", o.Timeout); err != nil {
		return nil, err
	}
	setIf(q, "labelSelector", o.Labels)
	setIf(q, "fieldSelector", o.Fields)
	if o.Limit > 0 {
		q.Set("limit", strconv.FormatInt(o.Limit, 10))
	}
	return q, o.versionQuery(q)
}

func (o *ListOptions) versionQuery(q url.Values) error {
	switch o.ResourceVersionMatch {
	case "", metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan:
	default:
		return fmt.Errorf("ListOptions.ResourceVersionMatch is %q; the server knows Exact and NotOlderThan", o.ResourceVersionMatch)
	}
	if o.ResourceVersionMatch != "" && o.ResourceVersion == "" {
		return fmt.Errorf("ListOptions.ResourceVersionMatch %s needs a ResourceVersion", o.ResourceVersionMatch)
	}
	if o.ResourceVersionMatch == metav1.ResourceVersionMatchExact && o.ResourceVersion == "0" {
		return fmt.Errorf("ListOptions.ResourceVersionMatch Exact needs a ResourceVersion other than 0: 0 means any version")
	}
	if o.Continue != "" {
		// The token holds the version; the server refuses a second one.
		q.Set("continue", o.Continue)
		return nil
	}
	setIf(q, "resourceVersion", o.ResourceVersion)
	setIf(q, "resourceVersionMatch", string(o.ResourceVersionMatch))
	return nil
}

// WatchOptions narrows a watch.
type WatchOptions struct {
	// Labels is a label selector; Fields is a field selector.
	Labels, Fields string
	// ResourceVersion is the version to start after. Empty or "0" starts with synthetic Added
	// events of what exists.
	ResourceVersion string
	// Timeout is how long the server keeps the watch open. Zero leaves it to the server, which
	// takes 30 to 60 minutes at random by default.
	Timeout time.Duration
	// DisableBookmarks asks the server not to send Bookmark events, which tell the newest
	// version while nothing changes.
	DisableBookmarks bool
	// SendInitialEvents asks for a streaming list: what exists as Added events, then a
	// Bookmark with InitialEventsEnd, then changes (KEP-3157). It needs bookmarks.
	SendInitialEvents bool
}

func (o *WatchOptions) query() (url.Values, error) {
	q := url.Values{"watch": {"true"}}
	if o == nil {
		o = &WatchOptions{}
	}
	if err := setTimeout(q, "WatchOptions", o.Timeout); err != nil {
		return nil, err
	}
	if o.SendInitialEvents && o.DisableBookmarks {
		return nil, fmt.Errorf("WatchOptions.SendInitialEvents needs bookmarks, and DisableBookmarks is set")
	}
	setIf(q, "labelSelector", o.Labels)
	setIf(q, "fieldSelector", o.Fields)
	setIf(q, "resourceVersion", o.ResourceVersion)
	if !o.DisableBookmarks {
		q.Set("allowWatchBookmarks", "true")
	}
	if o.SendInitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan))
	}
	return q, nil
}

// setTimeout asks the server for a time limit. It counts whole seconds: a fraction is left out.
func setTimeout(q url.Values, options string, d time.Duration) error {
	if d < 0 || d > 0 && d < time.Second {
		return fmt.Errorf("%s.Timeout is %s; it has to be 0 (the server's default) or at least 1s", options, d)
	}
	if d > 0 {
		q.Set("timeoutSeconds", strconv.FormatInt(int64(d/time.Second), 10))
	}
	return nil
}

// CreateOptions changes how an object is created.
type CreateOptions struct {
	// DryRun has the server do everything but store the object.
	DryRun bool
	// FieldManager owns the fields of the object in managedFields. The server takes the
	// user agent's first part when it is empty.
	FieldManager string
	// FieldValidation says what happens to unknown fields.
	FieldValidation FieldValidation
}

func (o *CreateOptions) query() (url.Values, error) {
	if o == nil {
		return url.Values{}, nil
	}
	return writeQuery("CreateOptions", o.DryRun, o.FieldManager, o.FieldValidation)
}

// ReplaceOptions changes how an object is replaced.
type ReplaceOptions struct {
	// DryRun has the server do everything but store the object.
	DryRun bool
	// FieldManager owns the changed fields in managedFields.
	FieldManager string
	// FieldValidation says what happens to unknown fields.
	FieldValidation FieldValidation
}

func (o *ReplaceOptions) query() (url.Values, error) {
	if o == nil {
		return url.Values{}, nil
	}
	return writeQuery("ReplaceOptions", o.DryRun, o.FieldManager, o.FieldValidation)
}

// PatchOptions changes how a patch is applied.
type PatchOptions struct {
	// DryRun has the server do everything but store the object.
	DryRun bool
	// FieldManager owns the changed fields in managedFields.
	FieldManager string
	// FieldValidation says what happens to unknown fields.
	FieldValidation FieldValidation
}

func (o *PatchOptions) query() (url.Values, error) {
	if o == nil {
		return url.Values{}, nil
	}
	return writeQuery("PatchOptions", o.DryRun, o.FieldManager, o.FieldValidation)
}

// ApplyOptions changes how an object is applied.
type ApplyOptions struct {
	// FailOnConflict makes an apply fail with [ErrConflict] when another manager owns a field
	// with another value. By default the apply takes such fields over, which is what a
	// controller has to do.
	// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#using-server-side-apply-in-a-controller
	FailOnConflict bool
	// Zero names fields to send although they hold the zero value of their type: "spec.replicas",
	// "spec.template.spec.containers[name=app].stdin" (or [0], or [*] for all). Without it a
	// zero field of a built-in kind is left out and not owned. A path that names no field, or
	// one that is not zero, is an error.
	Zero []string
	// DryRun has the server do everything but store the object.
	DryRun bool
	// FieldValidation says what happens to unknown fields.
	FieldValidation FieldValidation
}

func (o *ApplyOptions) query(fieldManager string) (url.Values, error) {
	if fieldManager == "" {
		return nil, fmt.Errorf("an apply needs a field manager: the name that owns the fields")
	}
	if o == nil {
		o = &ApplyOptions{}
	}
	q, err := writeQuery("ApplyOptions", o.DryRun, fieldManager, o.FieldValidation)
	if err == nil && !o.FailOnConflict {
		q.Set("force", "true")
	}
	return q, err
}

// maxFieldManager is the server's limit on the length of a field manager, in bytes.
const maxFieldManager = 128

func writeQuery(options string, dryRun bool, fieldManager string, validation FieldValidation) (url.Values, error) {
	q := url.Values{}
	if len(fieldManager) > maxFieldManager {
		return nil, fmt.Errorf("the field manager %.20q… has %d bytes; the server takes at most %d", fieldManager, len(fieldManager), maxFieldManager)
	}
	switch validation {
	case "", FieldValidationIgnore, FieldValidationWarn, FieldValidationStrict:
	default:
		return nil, fmt.Errorf("%s.FieldValidation is %q; the server knows Ignore, Warn and Strict", options, validation)
	}
	if dryRun {
		q.Set("dryRun", metav1.DryRunAll)
	}
	setIf(q, "fieldManager", fieldManager)
	setIf(q, "fieldValidation", string(validation))
	return q, nil
}

// Propagation says what happens to the dependants of a deleted object.
// See https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
type Propagation = metav1.DeletionPropagation

const (
	// PropagationBackground deletes the object at once and its dependants afterwards.
	PropagationBackground Propagation = metav1.DeletePropagationBackground
	// PropagationForeground deletes the dependants first.
	PropagationForeground Propagation = metav1.DeletePropagationForeground
	// PropagationOrphan leaves the dependants alone.
	PropagationOrphan Propagation = metav1.DeletePropagationOrphan
)

// DeleteOptions changes how objects are deleted.
type DeleteOptions struct {
	// GracePeriod is how long the object may take to end; nil leaves it to the kind, zero
	// deletes at once. It is rounded down to whole seconds.
	GracePeriod *time.Duration
	// Propagation says what happens to dependants; empty leaves it to the kind.
	Propagation Propagation
	// UID and ResourceVersion are preconditions: the deletion fails with [ErrConflict] when
	// the object is another one, or has changed.
	UID             types.UID
	ResourceVersion string
	// DryRun has the server do everything but delete.
	DryRun bool
}

// body is the DeleteOptions object that the server reads.
func (o *DeleteOptions) body() (*metav1.DeleteOptions, error) {
	if o == nil {
		return nil, nil
	}
	b := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
	if o.GracePeriod != nil {
		if *o.GracePeriod < 0 {
			return nil, fmt.Errorf("DeleteOptions.GracePeriod is %s; it has to be 0 or more", *o.GracePeriod)
		}
		seconds := int64(*o.GracePeriod / time.Second)
		b.GracePeriodSeconds = &seconds
	}
	switch o.Propagation {
	case "":
	case PropagationBackground, PropagationForeground, PropagationOrphan:
		b.PropagationPolicy = &o.Propagation
	default:
		return nil, fmt.Errorf("DeleteOptions.Propagation is %q; the server knows Background, Foreground and Orphan", o.Propagation)
	}
	if o.UID != "" || o.ResourceVersion != "" {
		b.Preconditions = &metav1.Preconditions{}
		if o.UID != "" {
			b.Preconditions.UID = &o.UID
		}
		if o.ResourceVersion != "" {
			b.Preconditions.ResourceVersion = &o.ResourceVersion
		}
	}
	if o.DryRun {
		b.DryRun = []string{metav1.DryRunAll}
	}
	return b, nil
}

func setIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}
