package kubetest

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coreCells are the rows of the core group.
func coreCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"pods":   cells(podCells),
		"events": cells(func(e *corev1.Event) []any { return eventCells(e) }),
		"configmaps": cells(func(o *corev1.ConfigMap) []any {
			return []any{o.Name, int64(len(o.Data) + len(o.BinaryData)), age(o.CreationTimestamp)}
		}),
		"secrets": cells(func(o *corev1.Secret) []any {
			return []any{o.Name, string(o.Type), int64(len(o.Data)), age(o.CreationTimestamp)}
		}),
		"namespaces": cells(func(o *corev1.Namespace) []any {
			return []any{o.Name, string(o.Status.Phase), age(o.CreationTimestamp)}
		}),
		"serviceaccounts": cells(func(o *corev1.ServiceAccount) []any { return []any{o.Name, age(o.CreationTimestamp)} }),
		"services":        cells(serviceCells),
		"endpoints": cells(func(o *corev1.Endpoints) []any { //nolint:staticcheck // deprecated, and served
			return []any{o.Name, endpointAddresses(o.Subsets), age(o.CreationTimestamp)}
		}),
		"nodes":                  cells(nodeRow),
		"persistentvolumes":      cells(volumeCells),
		"persistentvolumeclaims": cells(claimCells),
		"resourcequotas":         cells(quotaCells),
		"podtemplates": cells(func(o *corev1.PodTemplate) []any {
			names, images := containers(&o.Template.Spec)
			return []any{o.Name, names, images, labels.FormatLabels(o.Template.Labels)}
		}),
		"replicationcontrollers": cells(func(o *corev1.ReplicationController) []any {
			var spec corev1.PodSpec
			if o.Spec.Template != nil {
				spec = o.Spec.Template.Spec
			}
			names, images := containers(&spec)
			return []any{
				o.Name, int64(or(o.Spec.Replicas, 0)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), age(o.CreationTimestamp),
				names, images, labels.FormatLabels(o.Spec.Selector),
			}
		}),
	}
}

// containers returns the names and the images of the containers of a pod.
func containers(spec *corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func serviceCells(o *corev1.Service) []any {
	ip := "<none>"
	if len(o.Spec.ClusterIPs) > 0 {
		ip = o.Spec.ClusterIPs[0]
	}
	return []any{
		o.Name, string(o.Spec.Type), ip, externalIP(o), orText(servicePorts(o.Spec.Ports), "<none>"), age(o.CreationTimestamp),
		labels.FormatLabels(o.Spec.Selector),
	}
}

func externalIP(o *corev1.Service) string {
	external := o.Spec.ExternalIPs
	switch o.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return orText(strings.Join(external, ","), "<none>")
	case corev1.ServiceTypeLoadBalancer:
		return orText(strings.Join(append(balancers(o.Status.LoadBalancer.Ingress), external...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return o.Spec.ExternalName
	}
	return "<unknown>"
}

func balancers(ingress []corev1.LoadBalancerIngress) []string {
	var addresses []string
	for _, i := range ingress {
		if address := cmp.Or(i.IP, i.Hostname); address != "" {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

func servicePorts(ports []corev1.ServicePort) string {
	var list []string
	for _, p := range ports {
		text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// shown is how many elements of a list are shown in a cell.
const shown = 3

// some returns the first elements of a list, and how many more there are.
func some(list []string, none string) string {
	if len(list) > shown {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
	}
	return orText(strings.Join(list, ","), none)
}

func endpointAddresses(subsets []corev1.EndpointSubset) string { //nolint:staticcheck // deprecated, and served
	if len(subsets) == 0 {
		return "<none>"
	}
	var list []string
	for _, s := range subsets {
		for _, a := range s.Addresses {
			if len(s.Ports) == 0 {
				list = append(list, a.IP)
			}
		}
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				list = append(list, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return some(list, "")
}

func nodeRow(o *corev1.Node) []any {
	status := "Unknown"
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if o.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	info := &o.Status.NodeInfo
	kernel := orText(info.KernelVersion, "<unknown>")
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		o.Name, status, orText(nodeRoles(o), "<none>"), age(o.CreationTimestamp), info.KubeletVersion,
		nodeAddress(o, corev1.NodeInternalIP), nodeAddress(o, corev1.NodeExternalIP),
		orText(info.OSImage, "<unknown>"), kernel, orText(info.ContainerRuntimeVersion, "<unknown>"),
	}
}

func nodeRoles(o *corev1.Node) string {
	var roles []string
	for label, value := range o.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), ",")
}

func nodeAddress(o *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range o.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}

// accessModes are short names of what may be done with a volume, in the order of people.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var list []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		text string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			list = append(list, m.text)
		}
	}
	return strings.Join(list, ",")
}

func phase[T ~string](p T, deleted *metav1.Time) string {
	if deleted != nil {
		return "Terminating"
	}
	return string(p)
}

func volumeCells(o *corev1.PersistentVolume) []any {
	claim := ""
	if ref := o.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	class := o.Spec.StorageClassName
	if annotated, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = annotated
	}
	return []any{
		o.Name, o.Spec.Capacity.Storage().String(), accessModes(o.Spec.AccessModes), string(o.Spec.PersistentVolumeReclaimPolicy),
		phase(o.Status.Phase, o.DeletionTimestamp), claim, class, or(o.Spec.VolumeAttributesClassName, "<unset>"), o.Status.Reason,
		age(o.CreationTimestamp), string(or(o.Spec.VolumeMode, "<unset>")),
	}
}

func claimCells(o *corev1.PersistentVolumeClaim) []any {
	capacity, modes := "", ""
	if o.Spec.VolumeName != "" {
		capacity, modes = o.Status.Capacity.Storage().String(), accessModes(o.Status.AccessModes)
	}
	class := or(o.Spec.StorageClassName, "")
	if annotated, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = annotated
	}
	return []any{
		o.Name, phase(o.Status.Phase, o.DeletionTimestamp), o.Spec.VolumeName, capacity, modes, class,
		or(o.Spec.VolumeAttributesClassName, "<unset>"), age(o.CreationTimestamp), string(or(o.Spec.VolumeMode, "<unset>")),
	}
}

func quotaCells(o *corev1.ResourceQuota) []any {
	var requests, limits []string
	for _, name := range sortedNames(o.Status.Hard) {
		used, hard := o.Status.Used[name], o.Status.Hard[name]
		text := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{o.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), age(o.CreationTimestamp)}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// owner is the controller of an object, as kind.group/name.
func owner(o metav1.Object) string {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return "<none>"
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	return strings.ToLower(kind.String()) + "/" + ref.Name
}
