package kubetest

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// admissionHook is what validating and mutating webhooks have in common.
type admissionHook struct {
	name                string
	client              admissionv1.WebhookClientConfig
	rules               []admissionv1.RuleWithOperations
	failure             *admissionv1.FailurePolicyType
	match               *admissionv1.MatchPolicyType
	effects             *admissionv1.SideEffectClass
	timeout             *int32
	namespaces, objects *metav1.LabelSelector
	conditions          []admissionv1.MatchCondition
	versions            []string
	reinvocation        *admissionv1.ReinvocationPolicyType
}

func checkValidatingWebhooks(p *problems, obj, _ *admissionv1.ValidatingWebhookConfiguration) {
	var hooks []admissionHook
	for _, h := range obj.Webhooks {
		hooks = append(hooks, admissionHook{
			h.Name, h.ClientConfig, h.Rules, h.FailurePolicy, h.MatchPolicy, h.SideEffects, h.TimeoutSeconds,
			h.NamespaceSelector, h.ObjectSelector, h.MatchConditions, h.AdmissionReviewVersions, nil,
		})
	}
	p.hooks(hooks)
}

func checkMutatingWebhooks(p *problems, obj, _ *admissionv1.MutatingWebhookConfiguration) {
	var hooks []admissionHook
	for _, h := range obj.Webhooks {
		hooks = append(hooks, admissionHook{
			h.Name, h.ClientConfig, h.Rules, h.FailurePolicy, h.MatchPolicy, h.SideEffects, h.TimeoutSeconds,
			h.NamespaceSelector, h.ObjectSelector, h.MatchConditions, h.AdmissionReviewVersions, h.ReinvocationPolicy,
		})
	}
	p.hooks(hooks)
}

func (p *problems) hooks(hooks []admissionHook) {
	names := map[string]bool{}
	for i := range hooks {
		h, at := &hooks[i], field.NewPath("webhooks").Index(i)
		p.hook(at, h)
		p.reviewVersions(at.Child("admissionReviewVersions"), h.versions)
		if h.name != "" && names[h.name] {
			p.duplicate(at.Child("name"), h.name)
		}
		names[h.name] = true
	}
}

func (p *problems) hook(at *field.Path, h *admissionHook) {
	p.add(utilvalidation.IsFullyQualifiedName(at.Child("name"), h.name)...)
	for i := range h.rules {
		p.hookRule(at.Child("rules").Index(i), &h.rules[i])
	}
	if h.failure != nil {
		oneOf(p, at.Child("failurePolicy"), *h.failure, admissionv1.Fail, admissionv1.Ignore)
	}
	if h.match != nil {
		oneOf(p, at.Child("matchPolicy"), *h.match, admissionv1.Equivalent, admissionv1.Exact)
	}
	if h.effects == nil {
		p.required(at.Child("sideEffects"), "must specify one of None, NoneOnDryRun")
	} else {
		oneOf(p, at.Child("sideEffects"), *h.effects, admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun)
	}
	if t := h.timeout; t != nil && (*t > 30 || *t < 1) {
		p.invalid(at.Child("timeoutSeconds"), *t, "the timeout value must be between 1 and 30 seconds")
	}
	p.selector(at.Child("namespaceSelector"), h.namespaces)
	p.selector(at.Child("objectSelector"), h.objects)
	if h.reinvocation != nil {
		oneOf(p, at.Child("reinvocationPolicy"), *h.reinvocation, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	}
	at = at.Child("clientConfig")
	switch c := &h.client; {
	case (c.URL == nil) == (c.Service == nil):
		p.required(at, "exactly one of url or service is required")
	case c.URL != nil:
		p.webhookURL(at.Child("url"), *c.URL)
	default:
		p.webhookService(at.Child("service"), c.Service.Name, c.Service.Namespace, c.Service.Path, or(c.Service.Port, 0))
	}
	if len(h.conditions) > 0 {
		p.skip(at.Root().Child("matchConditions"))
	}
}

func (p *problems) hookRule(at *field.Path, r *admissionv1.RuleWithOperations) {
	operations := []admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update}
	ops := at.Child("operations")
	if len(r.Operations) == 0 {
		p.required(ops, "")
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		p.invalid(ops, r.Operations, "if '*' is present, must not specify other operations")
	}
	for i, op := range r.Operations {
		oneOf(p, ops.Index(i), op, operations...)
	}
	p.wildcardList(at.Child("apiGroups"), r.APIGroups, "API groups")
	p.wildcardList(at.Child("apiVersions"), r.APIVersions, "API versions")
	for i, version := range r.APIVersions {
		if version == "" {
			p.required(at.Child("apiVersions").Index(i), "")
		}
	}
	p.hookResources(at.Child("resources"), r.Resources)
	if r.Scope != nil {
		oneOf(p, at.Child("scope"), *r.Scope, admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope)
	}
}

// wildcardList validates a list that is not empty, and in which a star stands alone.
func (p *problems) wildcardList(at *field.Path, list []string, what string) {
	if len(list) == 0 {
		p.required(at, "")
	}
	if len(list) > 1 && slices.Contains(list, "*") {
		p.invalid(at, list, "if '*' is present, must not specify other "+what)
	}
}

func (p *problems) hookResources(at *field.Path, list []string) {
	if len(list) == 0 {
		p.required(at, "")
	}
	ofAll, allOf := map[string]bool{}, map[string]bool{}
	plain := false
	for i, name := range list {
		if name == "" {
			p.required(at.Index(i), "")
			continue
		}
		resource, sub, ok := strings.Cut(name, "/")
		if !ok {
			plain = name != "*"
			continue
		}
		if allOf[resource] {
			p.invalid(at.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name))
		}
		if ofAll[sub] {
			p.invalid(at.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name))
		}
		allOf[resource] = allOf[resource] || sub == "*"
		ofAll[sub] = ofAll[sub] || resource == "*"
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		p.invalid(at, list, "if '*/*' is present, must not specify other resources")
	}
	if plain && slices.Contains(list, "*") {
		p.invalid(at, list, "if '*' is present, must not specify other resources without subresources")
	}
}

func (p *problems) reviewVersions(at *field.Path, versions []string) {
	const accepted = "v1, v1beta1"
	if len(versions) == 0 {
		p.required(at, "must specify one of "+accepted)
		return
	}
	known := false
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			p.invalid(at.Index(i), v, "duplicate version")
			continue
		}
		p.invalid(at.Index(i), v, utilvalidation.IsDNS1035Label(v)...)
		known = known || v == "v1" || v == "v1beta1"
	}
	if !known {
		p.invalid(at, versions, "must include at least one of "+accepted)
	}
}
