package kubetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// create answers POST on a collection.
func create(w http.ResponseWriter, rq *request) error {
	if h := unstored(rq.kind.groupKind()); h != nil {
		return h(w, rq)
	}
	if err := rq.createOptions(); err != nil {
		return err
	}
	obj, err := rq.decodeObject()
	if err != nil {
		return err
	}
	if err := rq.prepareNew(obj); err != nil {
		return err
	}
	if obj, err = rq.trackFields(obj, nil); err != nil {
		return err
	}
	o, err := rq.create(obj)
	if err != nil {
		return err
	}
	return rq.respond(w, http.StatusCreated, o)
}

// prepareNew makes the metadata of an object that a client sent ready for creation.
func (rq *request) prepareNew(obj runtime.Object) error {
	m := accessor(obj)
	wipe(m)
	if err := rq.setNamespace(m); err != nil {
		return err
	}
	rq.dropDuplicateOwners(m)
	return nil
}

// wipe removes what only the server writes.
func wipe(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// setNamespace writes the namespace of the path into an object that names none.
func (rq *request) setNamespace(m metav1.Object) error {
	want := rq.objectNamespace()
	switch ns := m.GetNamespace(); {
	case ns == want:
	case ns == "", want == "":
		m.SetNamespace(want)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// dropDuplicateOwners removes owner references that stand there twice, with a warning.
func (rq *request) dropDuplicateOwners(m metav1.Object) {
	var kept []metav1.OwnerReference
	var duplicates []string
	for _, ref := range m.GetOwnerReferences() {
		if containsOwner(kept, ref) {
			duplicates = append(duplicates, string(ref.UID))
		} else {
			kept = append(kept, ref)
		}
	}
	if len(duplicates) > 0 {
		rq.warn(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(duplicates, ", "))
		m.SetOwnerReferences(kept)
	}
}

// nameAttempts is how often a name is generated before it is an error that they are all taken.
const nameAttempts = 8

// create stores a new object, whose metadata has been prepared, and returns what was stored.
func (rq *request) create(obj runtime.Object) (*object, error) {
	m := accessor(obj)
	if m.GetName() != "" || m.GetGenerateName() == "" {
		return rq.createOnce(obj)
	}
	for attempt := 1; ; attempt++ {
		o, err := rq.createOnce(obj.DeepCopyObject())
		if attempt == nameAttempts || !apierrors.IsAlreadyExists(err) {
			return o, err
		}
	}
}

func (rq *request) createOnce(obj runtime.Object) (*object, error) {
	fillSystemFields(accessor(obj))
	if err := rq.admitNew(obj); err != nil {
		return nil, err
	}
	o, err := rq.insert(obj)
	if accessor(obj).GetGenerateName() != "" && apierrors.IsAlreadyExists(err) && !strings.HasPrefix(err.Error(), "object is being deleted") {
		return nil, apierrors.NewGenerateNameConflict(rq.resourceName(), accessor(obj).GetName(), 1)
	}
	return o, err
}

// fillSystemFields writes what only the server writes.
// What is there already, of an object that was preloaded, stays.
func fillSystemFields(m metav1.Object) {
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.NewTime(time.Now()))
	}
	if m.GetUID() == "" {
		m.SetUID(uuid.NewUUID())
	}
	if prefix := m.GetGenerateName(); prefix != "" && m.GetName() == "" {
		m.SetName(generateName(prefix))
	}
}

// generateName returns prefix with five random characters behind it.
func generateName(prefix string) string {
	const maxPrefix = 63 - 5
	if len(prefix) > maxPrefix {
		prefix = prefix[:maxPrefix]
	}
	return prefix + rand.String(5)
}

// admitNew does everything with a new object that comes before it is stored.
func (rq *request) admitNew(obj runtime.Object) error {
	k := rq.kind
	if err := rq.checkNamespace(); err != nil {
		return err
	}
	if err := rq.admit(obj, nil); err != nil {
		return err
	}
	if k.subresources["status"] != nil && !k.strategy.keepsStatus {
		copyStatus(k.new(), obj)
	}
	if k.strategy.generation {
		accessor(obj).SetGeneration(1)
	}
	if k.strategy.prepareCreate != nil {
		k.strategy.prepareCreate(rq, obj)
	}
	if errs := rq.validateNew(obj); len(errs) > 0 {
		return apierrors.NewInvalid(k.kindOf(obj), accessor(obj).GetName(), errs)
	}
	rq.accept(obj, nil)
	return nil
}

// admit runs the admission of a write.
func (rq *request) admit(obj, old runtime.Object) error {
	if rq.kind.strategy.admit == nil {
		return nil
	}
	return rq.kind.strategy.admit(rq, obj, old)
}

// accept does what follows the validation of an object: warnings and canonicalization.
func (rq *request) accept(obj, old runtime.Object) {
	s := rq.kind.strategy
	if s.warnings != nil {
		for _, text := range s.warnings(rq, obj, old) {
			rq.warn(text)
		}
	}
	if s.canonicalize != nil {
		s.canonicalize(obj)
	}
}

// validateNew returns what is wrong with a new object.
func (rq *request) validateNew(obj runtime.Object) field.ErrorList {
	s := rq.kind.strategy
	var errs field.ErrorList
	if s.validName != nil {
		errs = rq.validateMeta(obj)
	}
	if s.unvalidated {
		rq.unvalidated("a real server validates this kind")
	}
	if s.validate != nil {
		errs = append(errs, s.validate(rq, obj)...)
	}
	if len(errs) == 0 && s.validName == nil {
		errs = validation.ValidateObjectMetaAccessor(accessor(obj), rq.kind.namespaced(), pathName, field.NewPath("metadata"))
	}
	return errs
}

// validateMeta returns what is wrong with the metadata of an object of a kind that has rules
// for names.
func (rq *request) validateMeta(obj runtime.Object) field.ErrorList {
	path := field.NewPath("metadata")
	m := accessor(obj)
	errs := validation.ValidateObjectMetaAccessor(m, rq.kind.namespaced(), rq.kind.strategy.validName, path)
	if !rq.kind.strategy.looseFinalizers {
		errs = append(errs, checkFinalizers(m, path)...)
	}
	return errs
}

// checkFinalizers refuses finalizers that are neither Kubernetes' own nor have a domain.
func checkFinalizers(m metav1.Object, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range m.GetFinalizers() {
		if !strings.Contains(f, "/") && f != string(corev1.FinalizerKubernetes) && !isGarbageFinalizer(f) {
			errs = append(errs, field.Invalid(path.Child("finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// insert stores obj as a new object.
func (rq *request) insert(obj runtime.Object) (*object, error) {
	m := accessor(obj)
	if v := m.GetResourceVersion(); v != "" && v != "0" && !rq.dryRun {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	obj, err := canonical(rq.kind.stored(obj), rq.kind)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	k := keyOf(m)
	if existing := rq.kind.table.get(k); existing != nil {
		return nil, rq.alreadyExists(existing)
	}
	if rq.dryRun {
		return &object{content: obj, meta: accessor(obj)}, nil
	}
	o, err := rq.kind.table.put(k, nil, obj)
	switch {
	case errors.Is(err, errNamespace):
		return nil, rq.checkNamespace()
	case errors.Is(err, errExists):
		return rq.insert(obj) // which finds out who was faster
	}
	return o, err
}

func (rq *request) alreadyExists(existing *object) error {
	err := apierrors.NewAlreadyExists(rq.resourceName(), existing.meta.GetName())
	if existing.meta.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// canonical returns obj, which it takes over, as it is when it has been stored and read again:
// protobuf does not tell empty from missing, and times have seconds.
func canonical(obj runtime.Object, k *kind) (runtime.Object, error) {
	if k.custom {
		return canonicalCustom(obj, k)
	}
	if k.jsonOnly() {
		return obj, nil
	}
	data, err := marshal(obj)
	if err != nil {
		return nil, err
	}
	fresh := k.newStored()
	if err := fresh.(interface{ Unmarshal([]byte) error }).Unmarshal(data); err != nil {
		return nil, fmt.Errorf("read back %s: %w", k.Kind, err)
	}
	typeClaims(fresh)
	return fresh, nil
}

// typeClaims writes the types of the claims of a StatefulSet, which protobuf leaves out.
func typeClaims(obj runtime.Object) {
	if o, ok := obj.(*appsv1.StatefulSet); ok {
		for i := range o.Spec.VolumeClaimTemplates {
			setTypeMeta(&o.Spec.VolumeClaimTemplates[i], corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
		}
	}
}

// newStored returns an empty object in the version of storage.
func (k *kind) newStored() runtime.Object {
	if k.storage != nil {
		return k.storage.new()
	}
	return k.new()
}

// managerOf returns the field manager of a client that names none: its program.
func managerOf(userAgent string) string {
	program, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, r := range program {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > metavalidation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func containsOwner(refs []metav1.OwnerReference, ref metav1.OwnerReference) bool {
	for _, r := range refs {
		if r.UID == ref.UID && sameOwner(r, ref) {
			return true
		}
	}
	return false
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		sameBool(a.Controller, b.Controller) && sameBool(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func sameBool(a, b *bool) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
