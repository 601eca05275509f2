package kubetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Where pods may run.

func (p *problems) labelName(at *field.Path, name string) {
	p.add(unversioned.ValidateLabelName(name, at)...)
}

func (r *podRules) affinity(at *field.Path, a *corev1.Affinity) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		at := at.Child("nodeAffinity")
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			r.nodeSelector(at.Child("requiredDuringSchedulingIgnoredDuringExecution"), required)
		}
		for i, term := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			at := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
			r.weight(at.Child("weight"), term.Weight)
			r.nodeTerm(at.Child("preference"), &term.Preference, true)
		}
	}
	if n := a.PodAffinity; n != nil {
		r.podTerms(at.Child("podAffinity"), n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		r.podTerms(at.Child("podAntiAffinity"), n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (p *problems) weight(at *field.Path, weight int32) {
	if weight <= 0 || weight > 100 {
		p.invalid(at, weight, "must be in the range 1-100")
	}
}

func (p *problems) nodeSelector(at *field.Path, s *corev1.NodeSelector) {
	at = at.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		p.required(at, "must have at least one node selector term")
	}
	for i := range s.NodeSelectorTerms {
		p.nodeTerm(at.Index(i), &s.NodeSelectorTerms[i], false)
	}
}

// nodeTerm validates a term; anyValue takes values that no label can have.
func (p *problems) nodeTerm(at *field.Path, term *corev1.NodeSelectorTerm, anyValue bool) {
	for i, rq := range term.MatchExpressions {
		p.nodeExpression(at.Child("matchExpressions").Index(i), &rq, anyValue)
	}
	for i, rq := range term.MatchFields {
		at := at.Child("matchFields").Index(i)
		switch rq.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(rq.Values) != 1 {
				p.required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
			}
		default:
			p.invalid(at.Child("operator"), rq.Operator, "not a valid selector operator")
		}
		if rq.Key != metav1.ObjectNameField {
			p.invalid(at.Child("key"), rq.Key, "not a valid field selector key")
			continue
		}
		for j, v := range rq.Values {
			p.invalid(at.Child("values").Index(j), v, subdomain(v)...)
		}
	}
}

func (p *problems) nodeExpression(at *field.Path, rq *corev1.NodeSelectorRequirement, anyValue bool) {
	values := at.Child("values")
	switch rq.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(rq.Values) == 0 {
			p.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(rq.Values) > 0 {
			p.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(rq.Values) != 1 {
			p.required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		p.invalid(at.Child("operator"), rq.Operator, "not a valid selector operator")
	}
	p.labelName(at.Child("key"), rq.Key)
	for i, v := range rq.Values {
		if !anyValue {
			p.invalid(values.Index(i), v, utilvalidation.IsValidLabelValue(v)...)
		}
	}
}

func (r *podRules) podTerms(at *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		r.podTerm(at.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i), &required[i])
	}
	for i := range preferred {
		at := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		r.weight(at.Child("weight"), preferred[i].Weight)
		r.podTerm(at.Child("podAffinityTerm"), &preferred[i].PodAffinityTerm)
	}
}

func (r *podRules) podTerm(at *field.Path, term *corev1.PodAffinityTerm) {
	r.selector(at.Child("labelSelector"), term.LabelSelector)
	r.selector(at.Child("namespaceSelector"), term.NamespaceSelector)
	for _, ns := range term.Namespaces {
		r.invalid(at.Child("namespace"), ns, label(ns)...)
	}
	r.matchKeys(at, term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector)
	if term.TopologyKey == "" {
		r.required(at.Child("topologyKey"), "can not be empty")
	}
	r.labelName(at.Child("topologyKey"), term.TopologyKey)
}

// matchKeys validates keys of labels that are taken from the pod itself.
func (r *podRules) matchKeys(at *field.Path, match, mismatch []string, selector *metav1.LabelSelector) {
	for _, list := range []struct {
		name string
		keys []string
	}{{"matchLabelKeys", match}, {"mismatchLabelKeys", mismatch}} {
		at := at.Child(list.name)
		if len(list.keys) > 0 && selector == nil {
			r.forbidden(at, "must not be specified when labelSelector is not set")
			continue
		}
		for i, key := range list.keys {
			r.labelName(at.Index(i), key)
		}
	}
	if selector != nil {
		seen := map[string]bool{}
		for key := range selector.MatchLabels {
			seen[key] = true
		}
		for _, e := range selector.MatchExpressions {
			if i := slices.Index(match, e.Key); i >= 0 && seen[e.Key] {
				r.invalid(at.Index(i), e.Key, "exists in both matchLabelKeys and labelSelector")
			}
			seen[e.Key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			r.invalid(at.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

func (r *podRules) spread(at *field.Path, constraints []corev1.TopologySpreadConstraint) {
	for i, c := range constraints {
		at := at.Index(i)
		r.positive(at.Child("maxSkew"), int64(c.MaxSkew))
		if c.TopologyKey == "" {
			r.required(at.Child("topologyKey"), "can not be empty")
		}
		oneOf(r.problems, at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		if slices.ContainsFunc(constraints[i+1:], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			r.duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable))
		}
		if c.MinDomains != nil {
			r.positive(at.Child("minDomains"), int64(*c.MinDomains))
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				r.invalid(at.Child("minDomains"), *c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable))
			}
		}
		for _, policy := range []struct {
			name  string
			value *corev1.NodeInclusionPolicy
		}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
			if policy.value != nil {
				oneOf(r.problems, at.Child(policy.name), *policy.value, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
			}
		}
		r.matchKeys(at, c.MatchLabelKeys, nil, c.LabelSelector)
		r.selector(at.Child("labelSelector"), c.LabelSelector)
	}
}

// tolerations validates which taints of nodes are taken.
func (p *problems) tolerations(at *field.Path, all []corev1.Toleration) {
	for i, t := range all {
		at := at.Index(i)
		if t.Key != "" {
			p.labelName(at.Child("key"), t.Key)
		}
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			p.invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			p.invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		p.tolerationOperator(at, &t)
		if t.Effect != "" {
			oneOf(p, at.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		}
	}
}

func (p *problems) tolerationOperator(at *field.Path, t *corev1.Toleration) {
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if errs := utilvalidation.IsValidLabelValue(t.Value); len(errs) > 0 {
			p.invalid(at.Child("operator"), t.Value, strings.Join(errs, ";"))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			p.invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'")
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if _, err := strconv.ParseInt(t.Value, 10, 64); err != nil {
			p.invalid(at.Child("value"), t.Value, err.Error())
		}
	default:
		oneOf(p, at.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
	}
}
