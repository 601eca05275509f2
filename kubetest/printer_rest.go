package kubetest

import (
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

func rbacCells() map[string]func(runtime.Object) []any {
	subjects := func(list []rbacv1.Subject) []any {
		var users, groups, accounts []string
		for _, s := range list {
			switch s.Kind {
			case rbacv1.ServiceAccountKind:
				accounts = append(accounts, s.Namespace+"/"+s.Name)
			case rbacv1.UserKind:
				users = append(users, s.Name)
			case rbacv1.GroupKind:
				groups = append(groups, s.Name)
			}
		}
		return []any{strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", ")}
	}
	return map[string]func(runtime.Object) []any{
		"rolebindings": cells(func(o *rbacv1.RoleBinding) []any {
			return append([]any{o.Name, o.RoleRef.Kind + "/" + o.RoleRef.Name, age(o.CreationTimestamp)}, subjects(o.Subjects)...)
		}),
		"clusterrolebindings": cells(func(o *rbacv1.ClusterRoleBinding) []any {
			return append([]any{o.Name, o.RoleRef.Kind + "/" + o.RoleRef.Name, age(o.CreationTimestamp)}, subjects(o.Subjects)...)
		}),
	}
}

func storageCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"storageclasses": cells(func(o *storagev1.StorageClass) []any {
			return []any{
				o.Name, o.Provisioner, string(or(o.ReclaimPolicy, "Delete")), string(or(o.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
				or(o.AllowVolumeExpansion, false), age(o.CreationTimestamp),
			}
		}),
		"csinodes": cells(func(o *storagev1.CSINode) []any {
			return []any{o.Name, int64(len(o.Spec.Drivers)), age(o.CreationTimestamp)}
		}),
		"csidrivers": cells(csiDriverCells),
		"volumeattachments": cells(func(o *storagev1.VolumeAttachment) []any {
			return []any{
				o.Name, o.Spec.Attacher, or(o.Spec.Source.PersistentVolumeName, ""), o.Spec.NodeName, o.Status.Attached, age(o.CreationTimestamp),
			}
		}),
		"volumeattributesclasses": cells(func(o *storagev1.VolumeAttributesClass) []any {
			return []any{o.Name, o.DriverName, age(o.CreationTimestamp)}
		}),
	}
}

func csiDriverCells(o *storagev1.CSIDriver) []any {
	var modes, audiences []string
	for _, m := range o.Spec.VolumeLifecycleModes {
		modes = append(modes, string(m))
	}
	for _, t := range o.Spec.TokenRequests {
		audiences = append(audiences, t.Audience)
	}
	tokens := "<unset>"
	if o.Spec.TokenRequests != nil {
		tokens = strings.Join(audiences, ",")
	}
	return []any{
		o.Name, or(o.Spec.AttachRequired, true), or(o.Spec.PodInfoOnMount, false), or(o.Spec.StorageCapacity, false), tokens,
		or(o.Spec.RequiresRepublish, false), orText(strings.Join(modes, ","), "<none>"), age(o.CreationTimestamp),
	}
}

func schedulingCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"priorityclasses": cells(func(o *schedulingv1.PriorityClass) []any {
			return []any{o.Name, int64(o.Value), o.GlobalDefault, age(o.CreationTimestamp), string(or(o.PreemptionPolicy, ""))}
		}),
	}
}

func nodeCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"runtimeclasses": cells(func(o *nodev1.RuntimeClass) []any { return []any{o.Name, o.Handler, age(o.CreationTimestamp)} }),
	}
}

func certificateCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"certificatesigningrequests": cells(func(o *certificatesv1.CertificateSigningRequest) []any {
			requested := "<none>"
			if s := o.Spec.ExpirationSeconds; s != nil {
				requested = duration.HumanDuration(time.Duration(*s) * time.Second)
			}
			return []any{
				o.Name, age(o.CreationTimestamp), orText(o.Spec.SignerName, "<none>"), o.Spec.Username, requested, signingStatus(&o.Status),
			}
		}),
		"clustertrustbundles": cells(func(o *certificatesv1.ClusterTrustBundle) []any {
			return []any{o.Name, orText(o.Spec.SignerName, "<none>")}
		}),
		"podcertificaterequests": cells(func(o *certificatesv1.PodCertificateRequest) []any {
			state := "Pending"
			for _, c := range o.Status.Conditions {
				switch c.Type {
				case certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied,
					certificatesv1.PodCertificateRequestConditionTypeFailed:
					state = c.Type
				}
			}
			return []any{
				o.Name, o.Spec.PodName, o.Spec.ServiceAccountName, string(o.Spec.NodeName), o.Spec.SignerName, state,
				labels.FormatLabels(o.Spec.UnverifiedUserAnnotations),
			}
		}),
	}
}

func signingStatus(s *certificatesv1.CertificateSigningRequestStatus) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range s.Conditions {
		has[c.Type] = true
	}
	status := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		status = "Denied"
	case has[certificatesv1.CertificateApproved]:
		status = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		status += ",Failed"
	}
	if len(s.Certificate) > 0 {
		status += ",Issued"
	}
	return status
}

func admissionCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"mutatingwebhookconfigurations": cells(func(o *admissionregistrationv1.MutatingWebhookConfiguration) []any {
			return []any{o.Name, int64(len(o.Webhooks)), age(o.CreationTimestamp)}
		}),
		"validatingwebhookconfigurations": cells(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) []any {
			return []any{o.Name, int64(len(o.Webhooks)), age(o.CreationTimestamp)}
		}),
		"validatingadmissionpolicies": cells(func(o *admissionregistrationv1.ValidatingAdmissionPolicy) []any {
			kind := "<unset>"
			if p := o.Spec.ParamKind; p != nil {
				kind = p.APIVersion + "/" + p.Kind
			}
			return []any{o.Name, int64(len(o.Spec.Validations)), kind, age(o.CreationTimestamp)}
		}),
		"mutatingadmissionpolicies": cells(func(o *admissionregistrationv1.MutatingAdmissionPolicy) []any {
			kind := "<unset>"
			if p := o.Spec.ParamKind; p != nil {
				kind = p.APIVersion + "/" + p.Kind
			}
			return []any{o.Name, int64(len(o.Spec.Mutations)), kind, age(o.CreationTimestamp)}
		}),
		"validatingadmissionpolicybindings": cells(func(o *admissionregistrationv1.ValidatingAdmissionPolicyBinding) []any {
			return []any{o.Name, o.Spec.PolicyName, policyParameter(o.Spec.ParamRef), age(o.CreationTimestamp)}
		}),
		"mutatingadmissionpolicybindings": cells(func(o *admissionregistrationv1.MutatingAdmissionPolicyBinding) []any {
			return []any{o.Name, o.Spec.PolicyName, policyParameter(o.Spec.ParamRef), age(o.CreationTimestamp)}
		}),
	}
}

func policyParameter(ref *admissionregistrationv1.ParamRef) string {
	switch {
	case ref == nil:
		return "<unset>"
	case ref.Name != "":
		return orText(ref.Namespace, "*") + "/" + ref.Name
	case ref.Selector != nil:
		return ref.Selector.String()
	}
	return "<unset>"
}

func definitionCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"customresourcedefinitions": cells(func(o *apiextensionsv1.CustomResourceDefinition) []any {
			established := "False"
			for _, c := range o.Status.Conditions {
				if c.Type == apiextensionsv1.Established {
					established = string(c.Status)
				}
			}
			return []any{
				o.Name, string(o.Spec.Scope), strings.Join(servedVersions(o), ","), o.CreationTimestamp.UTC().Format(time.RFC3339), o.Spec.Group,
				o.Spec.Names.Kind, strings.Join(o.Spec.Names.ShortNames, ","), established,
			}
		}),
	}
}

// servedVersions tells which versions are served, and which of them is stored.
func servedVersions(o *apiextensionsv1.CustomResourceDefinition) []string {
	var versions []string
	for _, v := range o.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			versions = append(versions, v.Name+"(storage)")
		case v.Served:
			versions = append(versions, v.Name)
		}
	}
	slices.Sort(versions)
	return versions
}

func deviceCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"deviceclasses":          cells(func(o *resourcev1.DeviceClass) []any { return []any{o.Name, age(o.CreationTimestamp)} }),
		"resourceclaimtemplates": cells(func(o *resourcev1.ResourceClaimTemplate) []any { return []any{o.Name, age(o.CreationTimestamp)} }),
		"resourceslices": cells(func(o *resourcev1.ResourceSlice) []any {
			return []any{o.Name, or(o.Spec.NodeName, ""), o.Spec.Driver, o.Spec.Pool.Name, age(o.CreationTimestamp)}
		}),
		"devicetaintrules": cells(func(o *resourcev1.DeviceTaintRule) []any {
			added := ""
			if t := o.Spec.Taint.TimeAdded; t != nil {
				added = age(*t)
			}
			return []any{o.Name, o.Spec.Taint.Key, o.Spec.Taint.Value, string(o.Spec.Taint.Effect), added, age(o.CreationTimestamp)}
		}),
		"resourceclaims": cells(func(o *resourcev1.ResourceClaim) []any {
			var states []string
			switch {
			case o.DeletionTimestamp != nil:
				states = append(states, "deleted")
			case o.Status.Allocation == nil:
				states = append(states, "pending")
			}
			if o.Status.Allocation != nil {
				states = append(states, "allocated")
				if len(o.Status.ReservedFor) > 0 {
					states = append(states, "reserved")
				}
			}
			return []any{o.Name, strings.Join(states, ","), age(o.CreationTimestamp)}
		}),
	}
}

func migrationCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"storageversionmigrations": cells(func(o *storagemigrationv1.StorageVersionMigration) []any {
			status := "Unknown"
			for _, c := range o.Status.Conditions {
				if c.Status == metav1.ConditionTrue {
					status = c.Type
				}
			}
			return []any{o.Name, schema.GroupResource(o.Spec.Resource).String(), status}
		}),
	}
}

func flowCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"flowschemas": cells(func(o *flowcontrolv1.FlowSchema) []any {
			distinguisher, dangling := "<none>", "?"
			if d := o.Spec.DistinguisherMethod; d != nil {
				distinguisher = string(d.Type)
			}
			for _, c := range o.Status.Conditions {
				if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
					dangling = string(c.Status)
				}
			}
			return []any{
				o.Name, o.Spec.PriorityLevelConfiguration.Name, int64(o.Spec.MatchingPrecedence), distinguisher, age(o.CreationTimestamp), dangling,
			}
		}),
		"prioritylevelconfigurations": cells(func(o *flowcontrolv1.PriorityLevelConfiguration) []any {
			none := any("<none>")
			row := []any{o.Name, string(o.Spec.Type), none, none, none, none, age(o.CreationTimestamp)}
			if l := o.Spec.Limited; l != nil {
				row[2] = l.NominalConcurrencyShares
				if q := l.LimitResponse.Queuing; q != nil {
					row[3], row[4], row[5] = q.Queues, q.HandSize, q.QueueLengthLimit
				}
			}
			return row
		}),
	}
}
