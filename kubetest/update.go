package kubetest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/go-kube/kube/internal/codec"
)

// update answers PUT on an object, or on a subresource whose bodies are objects of the kind.
func update(w http.ResponseWriter, rq *request) error {
	if err := rq.updateOptions(); err != nil {
		return err
	}
	obj, err := rq.decodeObject()
	if err != nil {
		return err
	}
	m := accessor(obj)
	if err := rq.setNamespace(m); err != nil {
		return err
	}
	if m.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", rq.name))
	}
	if m.GetName() != rq.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), rq.name))
	}
	rq.dropDuplicateOwners(m)
	o, created, err := rq.modify(modification{
		uid:     m.GetUID(),
		creates: rq.subresource == "" && rq.kind.strategy.createOnUpdate,
		change: func(live runtime.Object) (runtime.Object, error) {
			return rq.trackFields(obj.DeepCopyObject(), live)
		},
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

// modification is a change to one object.
type modification struct {
	// uid is the uid that the object has to have; empty is any.
	uid types.UID
	// creates allows the object to be created.
	creates bool
	// change returns what the object shall be, a new value. live is what it is and must not be
	// changed; it is nil if the object does not exist. It may be called again when somebody else was faster.
	change func(live runtime.Object) (runtime.Object, error)
}

// modify changes the object that the request names, and returns it as it is then.
func (rq *request) modify(mod modification) (o *object, created bool, err error) {
	for {
		live := rq.kind.table.get(key{rq.objectNamespace(), rq.name})
		if live == nil {
			o, err = rq.modifyMissing(mod)
			created = true
		} else {
			o, err = rq.modifyLive(mod, live)
		}
		if !errors.Is(err, errChanged) && !errors.Is(err, errExists) {
			return o, created && err == nil, err
		}
	}
}

// modifyMissing creates the object.
func (rq *request) modifyMissing(mod modification) (*object, error) {
	if !mod.creates {
		return nil, rq.notFound(rq.name)
	}
	if mod.uid != "" {
		return nil, rq.wrongUID(mod.uid, "")
	}
	obj, err := mod.change(nil)
	if err != nil {
		return nil, err
	}
	m := accessor(obj)
	wipe(m)
	m.SetResourceVersion("")
	fillSystemFields(m)
	if err := rq.admitNew(obj); err != nil {
		return nil, err
	}
	return rq.insert(obj)
}

// storageKey is where a real server has the object in etcd.
func (rq *request) storageKey() string {
	place := rq.resource
	if rq.kind.custom {
		place = rq.group + "/" + place
	}
	if rq.kind.namespaced() {
		place += "/" + rq.namespace
	}
	return "/registry/" + place + "/" + rq.name
}

func (rq *request) wrongUID(want, have types.UID) error {
	return apierrors.NewConflict(rq.resourceName(), rq.name,
		fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v",
			rq.storageKey(), want, have))
}

// modifyLive changes an object that exists.
func (rq *request) modifyLive(mod modification, live *object) (*object, error) {
	if mod.uid != "" && mod.uid != live.meta.GetUID() {
		return nil, rq.wrongUID(mod.uid, live.meta.GetUID())
	}
	old := rq.kind.convert(live)
	obj, err := mod.change(old)
	if err != nil {
		return nil, err
	}
	if err := rq.checkVersion(accessor(obj), live.meta); err != nil {
		return nil, err
	}
	if err := rq.admitUpdate(obj, old); err != nil {
		return nil, err
	}
	keepTimes(obj, old)
	return rq.replace(obj, live)
}

// checkVersion is the optimistic lock: an object has to have the newest resource version, or
// none.
func (rq *request) checkVersion(m, live metav1.Object) error {
	switch version := m.GetResourceVersion(); {
	case (version == "" || version == "0") && rq.kind.strategy.needsVersion:
		kind := schema.GroupKind{Group: rq.group, Kind: rq.resource}
		return apierrors.NewInvalid(kind, rq.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
		})
	case version == "" || version == "0":
		m.SetResourceVersion(live.GetResourceVersion())
	case version != live.GetResourceVersion():
		if _, err := strconv.ParseUint(version, 10, 64); err != nil {
			return err
		}
		return rq.outdated()
	}
	return nil
}

func (rq *request) outdated() error {
	return apierrors.NewConflict(rq.resourceName(), rq.name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// admitUpdate does everything with a changed object that comes before it is stored.
func (rq *request) admitUpdate(obj, old runtime.Object) error {
	m, oldMeta := accessor(obj), accessor(old)
	if err := rq.setNamespace(m); err != nil {
		return err
	}
	if err := rq.admit(obj, old); err != nil {
		return err
	}
	m.SetGeneration(oldMeta.GetGeneration())
	rq.prepareChanged(obj, old)
	keepSystemFields(m, oldMeta)
	if errs := rq.validateChanged(obj, old); len(errs) > 0 {
		return apierrors.NewInvalid(rq.kind.kindOf(obj), m.GetName(), errs)
	}
	rq.accept(obj, old)
	return nil
}

// prepareChanged takes from old what an update has no say in.
func (rq *request) prepareChanged(obj, old runtime.Object) {
	k := rq.kind
	if sub := k.subresources[rq.subresource]; sub != nil {
		if sub.prepare != nil {
			sub.prepare(rq, obj, old)
		}
		if sub.counts && !samePartsButStatus(obj, old) {
			accessor(obj).SetGeneration(accessor(old).GetGeneration() + 1)
		}
		return
	}
	if k.subresources["status"] != nil {
		copyStatus(old, obj)
	}
	if k.strategy.prepareUpdate != nil {
		k.strategy.prepareUpdate(rq, obj, old)
	}
	if k.strategy.generation && !samePartsButStatus(obj, old) {
		accessor(obj).SetGeneration(accessor(old).GetGeneration() + 1)
	}
}

// keepSystemFields takes from old what only the server writes.
func keepSystemFields(m, old metav1.Object) {
	if m.GetUID() == "" {
		m.SetUID(old.GetUID())
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		m.SetCreationTimestamp(created)
	}
	if deleted := old.GetDeletionTimestamp(); !deleted.IsZero() {
		m.SetDeletionTimestamp(deleted)
	}
	if grace := old.GetDeletionGracePeriodSeconds(); grace != nil && m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(grace)
	}
}

// validateChanged returns what is wrong with a changed object.
func (rq *request) validateChanged(obj, old runtime.Object) field.ErrorList {
	path := field.NewPath("metadata")
	m := accessor(obj)
	errs := validation.ValidateObjectMetaAccessor(m, rq.kind.namespaced(), pathName, path)
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, accessor(old), path)...)
	if !rq.kind.strategy.looseFinalizers {
		errs = append(errs, checkFinalizers(m, path)...)
	}
	if rq.kind.strategy.unvalidated && rq.subresource == "" {
		rq.unvalidated("a real server validates this kind")
	}
	validate := rq.kind.strategy.validateUpdate
	if sub := rq.kind.subresources[rq.subresource]; sub != nil {
		validate = sub.validate
	}
	if validate != nil {
		errs = append(errs, validate(rq, obj, old)...)
	}
	return withoutDuplicates(errs)
}

// withoutDuplicates drops errors that say what another one has said: the metadata is validated
// by more than one rule.
func withoutDuplicates(errs field.ErrorList) field.ErrorList {
	seen := map[string]bool{}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		text := err.Error()
		again := seen[text]
		seen[text] = true
		return again
	})
}

// replace stores obj in place of live. An object that was only waiting for its finalizers to
// go is removed, and one that did not change stays what it is.
func (rq *request) replace(obj runtime.Object, live *object) (*object, error) {
	obj, err := canonical(rq.kind.stored(obj), rq.kind)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m := accessor(obj)
	if finished(m, live.meta) && rq.mayFinish(obj) {
		return rq.finish(obj, live)
	}
	same, err := sameContent(obj, live)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if same {
		return live, nil
	}
	if rq.dryRun {
		return &object{content: obj, meta: m}, nil
	}
	return rq.kind.table.put(live.key(), live, obj)
}

// finished reports whether an object has no finalizers left and was asked to go.
func finished(m, live metav1.Object) bool {
	if len(m.GetFinalizers()) > 0 || live.GetDeletionTimestamp() == nil {
		return false
	}
	grace := live.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}

// mayFinish reports whether the kind has nothing against the removal of obj.
func (rq *request) mayFinish(obj runtime.Object) bool {
	return rq.kind.strategy.mayFinish == nil || rq.kind.strategy.mayFinish(obj)
}

// finish removes live, whose last finalizer an update has removed. The answer to the update is
// the object as it would have been stored.
func (rq *request) finish(obj runtime.Object, live *object) (*object, error) {
	last := &object{content: obj, meta: accessor(obj)}
	if rq.dryRun {
		return last, nil
	}
	if _, err := rq.kind.table.remove(live.key(), live); err != nil {
		return nil, err
	}
	return last, nil
}

// sameContent reports whether obj, which has the resource version of live, is what live is.
func sameContent(obj runtime.Object, live *object) (bool, error) {
	f := wholeProtobuf
	if !codec.SupportsProtobuf(obj) {
		f = wholeJSON
	}
	data, err := encodeForm(obj, f)
	if err != nil {
		return false, err
	}
	stored, err := live.encoded(f, func() ([]byte, error) { return encodeForm(live.content, f) })
	return bytes.Equal(data, stored), err
}
