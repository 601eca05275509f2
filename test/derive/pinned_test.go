//lint:file-ignore SA1019 versions that projects deprecated are derived too

package derive

import (
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1"
	addonsv1beta2 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1beta2 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	controlplanev1beta2 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	corev1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	corev1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1"
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"
	ipamv1beta2 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1"
	runtimev1beta2 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// pinned are the API modules whose YAML was made with other modules than those of go.mod.
var pinned = []project{
	{name: "cluster-api v1.14.2", packages: []string{"sigs.k8s.io/cluster-api/api/..."}, module: "sigs.k8s.io/cluster-api@v1.14.2", modfile: "k8s36.mod", note: "by controller-gen v0.20 and v0.21, with k8s.io/api v0.36", shippedStep: newUnions, shipped: []string{"core/config/crd/bases/*.yaml", "bootstrap/kubeadm/config/crd/bases/*.yaml", "controlplane/kubeadm/config/crd/bases/*.yaml"}, kinds: []kind{
		of[addonsv1beta1.ClusterResourceSet](),
		of[addonsv1beta1.ClusterResourceSetBinding](),
		of[addonsv1beta2.ClusterResourceSet](),
		of[addonsv1beta2.ClusterResourceSetBinding](),
		of[bootstrapv1beta1.KubeadmConfig](),
		of[bootstrapv1beta1.KubeadmConfigTemplate](),
		of[bootstrapv1beta2.KubeadmConfig](),
		of[bootstrapv1beta2.KubeadmConfigTemplate](),
		of[corev1beta1.Cluster](),
		of[corev1beta1.ClusterClass](),
		of[corev1beta1.Machine](),
		of[corev1beta1.MachineDeployment](),
		of[corev1beta1.MachineDrainRule](),
		of[corev1beta1.MachineHealthCheck](),
		of[corev1beta1.MachinePool](),
		of[corev1beta1.MachineSet](),
		of[corev1beta2.Cluster](),
		of[corev1beta2.ClusterClass](),
		of[corev1beta2.Machine](),
		of[corev1beta2.MachineDeployment](),
		of[corev1beta2.MachineDrainRule](),
		of[corev1beta2.MachineHealthCheck](),
		of[corev1beta2.MachinePool](),
		of[corev1beta2.MachineSet](),
		of[controlplanev1beta1.KubeadmControlPlane](),
		of[controlplanev1beta1.KubeadmControlPlaneTemplate](),
		of[controlplanev1beta2.KubeadmControlPlane](),
		of[controlplanev1beta2.KubeadmControlPlaneTemplate](),
		of[ipamv1alpha1.IPAddress](),
		of[ipamv1alpha1.IPAddressClaim](),
		of[ipamv1beta1.IPAddress](),
		of[ipamv1beta1.IPAddressClaim](),
		of[ipamv1beta2.IPAddress](),
		of[ipamv1beta2.IPAddressClaim](),
		of[runtimev1alpha1.ExtensionConfig](),
		of[runtimev1beta2.ExtensionConfig](),
	}},
	{name: "kueue v0.17.0", packages: []string{"sigs.k8s.io/kueue/apis/kueue/..."}, module: "sigs.k8s.io/kueue@v0.17.0", modfile: "k8s35.mod", note: "by controller-gen v0.20, with k8s.io/api v0.35", shippedStep: newUnions, embeddedMeta: true, shipped: []string{"config/components/crd/bases/*.yaml"}, kinds: []kind{
		of[kueuev1beta1.AdmissionCheck](),
		of[kueuev1beta1.ClusterQueue](),
		of[kueuev1beta1.Cohort](),
		of[kueuev1beta1.LocalQueue](),
		of[kueuev1beta1.MultiKueueCluster](),
		of[kueuev1beta1.MultiKueueConfig](),
		of[kueuev1beta1.ProvisioningRequestConfig](),
		of[kueuev1beta1.ResourceFlavor](),
		of[kueuev1beta1.Topology](),
		of[kueuev1beta1.Workload](),
		of[kueuev1beta1.WorkloadPriorityClass](),
		of[kueuev1beta2.AdmissionCheck](),
		of[kueuev1beta2.ClusterQueue](),
		of[kueuev1beta2.Cohort](),
		of[kueuev1beta2.LocalQueue](),
		of[kueuev1beta2.MultiKueueCluster](),
		of[kueuev1beta2.MultiKueueConfig](),
		of[kueuev1beta2.ProvisioningRequestConfig](),
		of[kueuev1beta2.ResourceFlavor](),
		of[kueuev1beta2.Topology](),
		of[kueuev1beta2.Workload](),
		of[kueuev1beta2.WorkloadPriorityClass](),
	}},
}
