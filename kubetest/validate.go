package kubetest

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validation of built-in kinds is what pkg/apis/*/validation in Kubernetes has, in the same
// words and order. Metadata is validated with all kinds; the files validate_*.go have the rest.

// problems are what is wrong with an object.
type problems struct {
	list field.ErrorList
	// declared are those that a real server finds by declarations in its types, after all others.
	declared field.ErrorList
	// skipped are fields that the object has and nobody looks at.
	skipped []string
}

func (p *problems) add(errs ...*field.Error) { p.list = append(p.list, errs...) }

// declare adds problems that come after all others.
func (p *problems) declare(errs ...*field.Error) { p.declared = append(p.declared, errs...) }

func (p *problems) required(at *field.Path, detail string) { p.add(field.Required(at, detail)) }

func (p *problems) forbidden(at *field.Path, detail string) { p.add(field.Forbidden(at, detail)) }

func (p *problems) duplicate(at *field.Path, value any) { p.add(field.Duplicate(at, value)) }

// invalid adds a problem for each of details, which may be none.
func (p *problems) invalid(at *field.Path, value any, details ...string) {
	for _, detail := range details {
		p.add(field.Invalid(at, value, detail))
	}
}

// name adds what is wrong with a name that is not empty, and that it is missing where it is.
func (p *problems) name(at *field.Path, value string, check func(string) []string) {
	if value == "" {
		p.required(at, "")
		return
	}
	p.invalid(at, value, check(value)...)
}

// oneOf adds that a value is none of those that are supported.
func oneOf[T ~string](p *problems, at *field.Path, value T, supported ...T) {
	if !slices.Contains(supported, value) {
		p.add(field.NotSupported(at, value, supported))
	}
}

// requiredOneOf is oneOf of a value that must not be empty.
func requiredOneOf[T ~string](p *problems, at *field.Path, value T, supported ...T) {
	if value == "" {
		p.required(at, "")
		return
	}
	oneOf(p, at, value, supported...)
}

func (p *problems) notNegative(at *field.Path, value int64) {
	p.add(validation.ValidateNonnegativeField(value, at)...)
}

// notNegativePointer is notNegative of what a pointer leads to, if it leads anywhere.
func notNegativePointer[T ~int32 | ~int64](p *problems, at *field.Path, value *T) {
	if value != nil {
		p.notNegative(at, int64(*value))
	}
}

const (
	notPositive = "must be greater than zero"
	immutable   = validation.FieldImmutableErrorMsg
)

func (p *problems) positive(at *field.Path, value int64) {
	if value <= 0 {
		p.invalid(at, value, notPositive)
	}
}

// quantity adds what is wrong with an amount of a resource.
func (p *problems) quantity(at *field.Path, name string, value resource.Quantity) {
	if value.Sign() < 0 {
		p.invalid(at, value.String(), validation.IsNegativeErrorMsg)
	}
	if isIntegerResource(name) && value.MilliValue()%1000 != 0 {
		p.invalid(at, value, "must be an integer")
	}
}

// unchanged adds that a field that cannot change has changed.
func (p *problems) unchanged(at *field.Path, now, was any) {
	p.add(validation.ValidateImmutableField(now, was, at)...)
}

// skip notes that a field is set and not validated.
func (p *problems) skip(at *field.Path) { p.skipped = append(p.skipped, at.String()) }

// subdomain, label and qualified are checks of names, for problems.name.
func subdomain(name string) []string { return utilvalidation.IsDNS1123Subdomain(name) }

func label(name string) []string { return utilvalidation.IsDNS1123Label(name) }

func qualified(name string) []string { return utilvalidation.IsQualifiedName(name) }

// inKeyOrder visits a map in the order of its keys. A real server goes through maps in any order.
func inKeyOrder[K cmp.Ordered, V any](m map[K]V, visit func(K, V)) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		visit(k, m[k])
	}
}

// rules are the validation of a kind, in the version that its objects are stored in. Each may be nil.
type rules struct {
	// object validates an object, new or changed; old is nil of a new one.
	object func(p *problems, obj, old runtime.Object)
	// status validates a change of the status.
	status func(p *problems, obj, old runtime.Object)
}

// ruled makes rules of a function for a Go type.
func ruled[T any, P interface {
	*T
	runtime.Object
}](object func(p *problems, obj, old P)) rules {
	return rules{object: typed(object)}
}

// withStatus adds the validation of the status.
func withStatus[T any, P interface {
	*T
	runtime.Object
}](r rules, status func(p *problems, obj, old P)) rules {
	r.status = typed(status)
	return r
}

func typed[T any, P interface {
	*T
	runtime.Object
}](f func(p *problems, obj, old P)) func(p *problems, obj, old runtime.Object) {
	return func(p *problems, obj, old runtime.Object) {
		before, _ := old.(P)
		f(p, obj.(P), before)
	}
}

// builtinRules are the rules of all kinds that have any.
func builtinRules() map[schema.GroupKind]rules {
	all := map[schema.GroupKind]rules{}
	for _, group := range []map[schema.GroupKind]rules{
		coreRules(), workloadRules(), batchRules(), networkRules(), policyRules(), storageRules(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// addRules has a strategy validate objects by the rules of their kind.
func (s *strategy) addRules(gk schema.GroupKind, r rules) {
	if r.object != nil && s.validate == nil && s.validateUpdate == nil {
		s.validate = func(rq *request, obj runtime.Object) field.ErrorList { return rq.judge(r.object, obj, nil) }
		s.validateUpdate = func(rq *request, obj, old runtime.Object) field.ErrorList { return rq.judge(r.object, obj, old) }
	}
	if r.status != nil && s.validateStatus == nil {
		s.validateStatus = func(rq *request, obj, old runtime.Object) field.ErrorList { return rq.judge(r.status, obj, old) }
	}
}

// judge applies rules to an object in the version that they are for.
func (rq *request) judge(rule func(p *problems, obj, old runtime.Object), obj, old runtime.Object) field.ErrorList {
	p := &problems{}
	rule(p, rq.kind.judged(obj), rq.kind.judged(old))
	rq.reportSkipped(p.skipped)
	errs := append(p.list, p.declared...)
	showInternal(errs)
	return withoutDuplicates(errs)
}

// judged returns an object, which may be nil, in the version of storage, and leaves it as it is.
func (k *kind) judged(obj runtime.Object) runtime.Object {
	if obj == nil || k.store == nil {
		return obj
	}
	return k.store(obj.DeepCopyObject())
}
