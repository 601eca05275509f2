package kubetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// coreRules are the rules of the core group, but for those of workloads.
func coreRules() map[schema.GroupKind]rules {
	nothing := rules{}
	return map[schema.GroupKind]rules{
		{Kind: "Pod"}:                   ruled(checkPod),
		{Kind: "Service"}:               ruled(checkService),
		{Kind: "ConfigMap"}:             ruled(checkConfigMap),
		{Kind: "Secret"}:                ruled(checkSecret),
		{Kind: "ServiceAccount"}:        nothing, // its metadata only
		{Kind: "Namespace"}:             withStatus(nothing, checkNamespaceStatus),
		{Kind: "Node"}:                  ruled(checkNode),
		{Kind: "Endpoints"}:             ruled(checkEndpoints),
		{Kind: "LimitRange"}:            ruled(checkLimitRange),
		{Kind: "ResourceQuota"}:         withStatus(ruled(checkQuota), checkQuotaStatus),
		{Kind: "PersistentVolumeClaim"}: ruled(checkClaim),
	}
}

// maxObjectData is how much data a secret and a config map can have.
const maxObjectData = 1024 * 1024

func checkConfigMap(p *problems, obj, old *corev1.ConfigMap) {
	const why = "field is immutable when `immutable` is set"
	if old != nil && or(old.Immutable, false) {
		if !or(obj.Immutable, false) {
			p.forbidden(field.NewPath("immutable"), why)
		}
		if !reflect.DeepEqual(obj.Data, old.Data) {
			p.forbidden(field.NewPath("data"), why)
		}
		if !reflect.DeepEqual(obj.BinaryData, old.BinaryData) {
			p.forbidden(field.NewPath("binaryData"), why)
		}
	}
	size := 0
	inKeyOrder(obj.Data, func(key, value string) {
		at := field.NewPath("data").Key(key)
		p.invalid(at, key, utilvalidation.IsConfigMapKey(key)...)
		if _, ok := obj.BinaryData[key]; ok {
			p.invalid(at, key, "duplicate of key present in binaryData")
		}
		size += len(value)
	})
	inKeyOrder(obj.BinaryData, func(key string, value []byte) {
		p.invalid(field.NewPath("binaryData").Key(key), key, utilvalidation.IsConfigMapKey(key)...)
		size += len(value)
	})
	if size > maxObjectData {
		p.add(field.TooLong(field.NewPath(""), "", maxObjectData))
	}
}

func checkSecret(p *problems, obj, old *corev1.Secret) {
	const why = "field is immutable when `immutable` is set"
	if old != nil {
		p.unchanged(field.NewPath("type"), obj.Type, old.Type)
		if or(old.Immutable, false) {
			if !or(obj.Immutable, false) {
				p.forbidden(field.NewPath("immutable"), why)
			}
			if !reflect.DeepEqual(obj.Data, old.Data) {
				p.forbidden(field.NewPath("data"), why)
			}
		}
	}
	at, size := field.NewPath("data"), 0
	inKeyOrder(obj.Data, func(key string, value []byte) {
		p.invalid(at.Key(key), key, utilvalidation.IsConfigMapKey(key)...)
		size += len(value)
	})
	if size > maxObjectData {
		p.add(field.TooLong(at, "", maxObjectData))
	}
	p.secretType(at, obj)
}

// secretType validates that a secret has what its type stands for.
func (p *problems) secretType(at *field.Path, obj *corev1.Secret) {
	has := func(key string) bool { _, ok := obj.Data[key]; return ok }
	need := func(key string) bool {
		if !has(key) {
			p.required(at.Key(key), "")
		}
		return has(key)
	}
	document := func(key string) {
		if !need(key) {
			return
		}
		if err := json.Unmarshal(obj.Data[key], &map[string]any{}); err != nil {
			p.invalid(at.Key(key), "<secret contents redacted>", err.Error())
		}
	}
	switch obj.Type {
	case corev1.SecretTypeServiceAccountToken:
		if obj.Annotations[corev1.ServiceAccountNameKey] == "" {
			p.required(metadataPath.Child("annotations").Key(corev1.ServiceAccountNameKey), "")
		}
	case corev1.SecretTypeDockercfg:
		document(corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		document(corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		if !has(corev1.BasicAuthUsernameKey) && !has(corev1.BasicAuthPasswordKey) {
			need(corev1.BasicAuthUsernameKey)
			need(corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(obj.Data[corev1.SSHAuthPrivateKey]) == 0 {
			p.required(at.Key(corev1.SSHAuthPrivateKey), "")
		}
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey)
		need(corev1.TLSPrivateKeyKey)
	}
}

func checkNamespaceStatus(p *problems, obj, _ *corev1.Namespace) {
	at := field.NewPath("status", "Phase")
	switch {
	case obj.DeletionTimestamp.IsZero() && obj.Status.Phase != corev1.NamespaceActive:
		p.invalid(at, obj.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")
	case !obj.DeletionTimestamp.IsZero() && obj.Status.Phase != corev1.NamespaceTerminating:
		p.invalid(at, obj.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
	}
}

func checkClaim(p *problems, obj, old *corev1.PersistentVolumeClaim) {
	p.claimSpec(specPath, &obj.Spec)
	if old == nil {
		return
	}
	now, was := obj.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	if was.StorageClassName == nil && old.Annotations[corev1.BetaStorageClassAnnotation] == "" && now.StorageClassName != nil {
		now.StorageClassName = was.StorageClassName // a class may be given to a claim that has none
	}
	if was, now := old.Annotations[corev1.BetaStorageClassAnnotation], obj.Annotations[corev1.BetaStorageClassAnnotation]; was != now {
		p.invalid(metadataPath.Child("annotations", corev1.BetaStorageClassAnnotation), now, immutable)
	}
	storage := corev1.ResourceStorage
	if obj.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[storage] = old.Spec.Resources.Requests[storage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(now, was) {
		p.forbidden(specPath, fmt.Sprintf("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v", specDiff(*was, *now)))
	}
	size := obj.Spec.Resources.Requests[storage]
	if size.Cmp(old.Spec.Resources.Requests[storage]) < 0 && size.Cmp(old.Status.Capacity[storage]) <= 0 {
		p.forbidden(specPath.Child("resources", "requests", "storage"), "field can not be less than status.capacity")
	}
	p.unchanged(field.NewPath("volumeMode"), obj.Spec.VolumeMode, old.Spec.VolumeMode)
}

// quotaResources validates names and amounts of what a quota counts.
func (p *problems) quotaResources(at *field.Path, list corev1.ResourceList) {
	inKeyOrder(list, func(name corev1.ResourceName, q resource.Quantity) {
		at := at.Key(string(name))
		p.resourceName(at, string(name))
		if !strings.Contains(string(name), "/") && !isQuotaResource(string(name)) {
			p.invalid(at, name, "must be a standard resource for quota")
		}
		p.quantity(at, string(name), q)
	})
}

func checkQuota(p *problems, obj, old *corev1.ResourceQuota) {
	p.quotaResources(specPath.Child("hard"), obj.Spec.Hard)
	p.quotaScopes(specPath.Child("scopes"), &obj.Spec)
	if obj.Spec.ScopeSelector != nil {
		p.skip(specPath.Child("scopeSelector"))
	}
	if old == nil {
		return
	}
	now, was := slices.Sorted(slices.Values(obj.Spec.Scopes)), slices.Sorted(slices.Values(old.Spec.Scopes))
	if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
		p.invalid(specPath.Child("scopes"), obj.Spec.Scopes, immutable)
	}
}

func (p *problems) quotaScopes(at *field.Path, s *corev1.ResourceQuotaSpec) {
	known := []corev1.ResourceQuotaScope{
		corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass,
		corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
	}
	for _, scope := range s.Scopes {
		if !slices.Contains(known, scope) {
			p.invalid(at, s.Scopes, "unsupported scope")
		}
		for _, name := range slices.Sorted(maps.Keys(s.Hard)) {
			if isQuotaResource(string(name)) && slices.Contains(known, scope) && !scopeCounts(scope, name) {
				p.invalid(at, s.Scopes, "unsupported scope applied to resource")
			}
		}
	}
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(s.Scopes, pair[0]) && slices.Contains(s.Scopes, pair[1]) {
			p.invalid(at, s.Scopes, "conflicting scopes")
		}
	}
}

// scopeCounts reports whether a scope can narrow down what is counted of a resource.
func scopeCounts(scope corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch scope {
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
	}
	return slices.Contains([]corev1.ResourceName{
		corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU,
		corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
	}, name)
}

func checkQuotaStatus(p *problems, obj, _ *corev1.ResourceQuota) {
	p.quotaResources(statusPath.Child("hard"), obj.Status.Hard)
	p.quotaResources(statusPath.Child("used"), obj.Status.Used)
}

func checkLimitRange(p *problems, obj, _ *corev1.LimitRange) {
	seen := map[corev1.LimitType]bool{}
	for i := range obj.Spec.Limits {
		limit, at := &obj.Spec.Limits[i], specPath.Child("limits").Index(i)
		before := len(p.list)
		p.invalid(at.Child("type"), limit.Type, qualified(string(limit.Type))...)
		if len(p.list) == before && !strings.Contains(string(limit.Type), "/") &&
			!slices.Contains([]corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}, limit.Type) {
			p.invalid(at.Child("type"), limit.Type, "must be a standard limit type or fully qualified")
		}
		if seen[limit.Type] {
			p.duplicate(at.Child("type"), limit.Type)
		}
		seen[limit.Type] = true
		p.limit(at, limit)
	}
}

// limit validates the names of an item of a limit range, and its amounts against each other.
func (p *problems) limit(at *field.Path, l *corev1.LimitRangeItem) {
	names := map[corev1.ResourceName]bool{}
	list := func(name string, resources corev1.ResourceList) {
		inKeyOrder(resources, func(resource corev1.ResourceName, _ resource.Quantity) {
			names[resource] = true
			at := at.Child(name).Key(string(resource))
			if l.Type == corev1.LimitTypePod || l.Type == corev1.LimitTypeContainer {
				p.containerResource(at, string(resource))
			} else {
				p.resourceName(at, string(resource))
			}
		})
	}
	list("max", l.Max)
	list("min", l.Min)
	if l.Type == corev1.LimitTypePod {
		if len(l.Default) > 0 {
			p.forbidden(at.Child("default"), "may not be specified when `type` is 'Pod'")
		}
		if len(l.DefaultRequest) > 0 {
			p.forbidden(at.Child("defaultRequest"), "may not be specified when `type` is 'Pod'")
		}
	} else {
		list("default", l.Default)
		list("defaultRequest", l.DefaultRequest)
	}
	if l.Type == corev1.LimitTypePersistentVolumeClaim && l.Min.Storage().IsZero() && l.Max.Storage().IsZero() {
		p.required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided")
	}
	list("maxLimitRequestRatio", l.MaxLimitRequestRatio)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p.limitOf(at, l, name)
	}
}

func (p *problems) limitOf(at *field.Path, l *corev1.LimitRangeItem, name corev1.ResourceName) {
	lowest, hasMin := l.Min[name]
	highest, hasMax := l.Max[name]
	def, hasDefault := l.Default[name]
	request, hasRequest := l.DefaultRequest[name]
	if l.Type == corev1.LimitTypePod {
		hasDefault, hasRequest = false, false
	}
	greater := func(both bool, a, b resource.Quantity, where string, value resource.Quantity, detail string) {
		if both && a.Cmp(b) > 0 {
			p.invalid(at.Child(where).Key(string(name)), value, fmt.Sprintf(detail, a.String(), b.String()))
		}
	}
	greater(hasMin && hasMax, lowest, highest, "min", lowest, "min value %s is greater than max value %s")
	greater(hasRequest && hasMin, lowest, request, "defaultRequest", request, "min value %s is greater than default request value %s")
	greater(hasRequest && hasMax, request, highest, "defaultRequest", request, "default request value %s is greater than max value %s")
	greater(hasRequest && hasDefault, request, def, "defaultRequest", request, "default request value %s is greater than default limit value %s")
	greater(hasDefault && hasMin, lowest, def, "default", lowest, "min value %s is greater than default value %s")
	greater(hasDefault && hasMax, def, highest, "default", highest, "default value %s is greater than max value %s")
	if ratio, ok := l.MaxLimitRequestRatio[name]; ok {
		ratioAt := at.Child("maxLimitRequestRatio").Key(string(name))
		if ratio.Cmp(resource.MustParse("1")) < 0 {
			p.invalid(ratioAt, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String()))
		}
		if most := highest.AsApproximateFloat64() / lowest.AsApproximateFloat64(); hasMin && hasMax && ratio.AsApproximateFloat64() > most {
			p.invalid(ratioAt, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), most))
		}
	}
	if !overcommits(string(name)) && hasDefault && hasRequest && def.Cmp(request) != 0 {
		p.invalid(at.Child("defaultRequest").Key(string(name)), request, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", def.String(), request.String(), name))
	}
}

func checkNode(p *problems, obj, old *corev1.Node) {
	taints := map[string]bool{}
	for i, t := range obj.Spec.Taints {
		at := metadataPath.Child("taints").Index(i)
		p.labelName(at.Child("key"), t.Key)
		if msgs := utilvalidation.IsValidLabelValue(t.Value); len(msgs) > 0 {
			p.invalid(at.Child("value"), t.Value, strings.Join(msgs, ";"))
		}
		requiredOneOf(p, at.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		if key := string(t.Effect) + "/" + t.Key; taints[key] {
			err := field.Duplicate(at, t)
			err.Detail = "taints must be unique by key and effect pair"
			p.add(err)
		} else {
			taints[key] = true
		}
	}
	for _, list := range []struct {
		name  string
		value corev1.ResourceList
	}{{"capacity", obj.Status.Capacity}, {"allocatable", obj.Status.Allocatable}} {
		inKeyOrder(list.value, func(name corev1.ResourceName, q resource.Quantity) {
			p.quantity(statusPath.Child(list.name, string(name)), string(name), q)
		})
	}
	for i, cidr := range obj.Spec.PodCIDRs {
		p.add(utilvalidation.IsValidCIDRForLegacyField(specPath.Child("podCIDRs").Index(i), cidr, true, nil)...)
	}
	if old == nil {
		return
	}
	if len(old.Spec.PodCIDRs) > 0 && !slices.Equal(old.Spec.PodCIDRs, obj.Spec.PodCIDRs) {
		p.forbidden(specPath.Child("podCIDRs"), `node updates may not change podCIDR except from "" to valid`)
	}
	switch was, now := old.Spec.ProviderID, obj.Spec.ProviderID; {
	case was != "" && now == "":
		p.invalid(specPath.Child("providerID"), nil, "field cannot be cleared once set")
	case was != "" && was != now:
		p.invalid(specPath.Child("providerID"), nil, "field cannot be modified once set")
	}
}
