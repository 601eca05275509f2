//lint:file-ignore SA1019 versions that projects deprecated are derived too

package derive

import (
	acmev1 "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	monitoringv1beta1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1beta1"
	apiv1beta1 "go.universe.tf/metallb/api/v1beta1"
	apiv1beta2 "go.universe.tf/metallb/api/v1beta2"
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
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1alpha2 "sigs.k8s.io/gateway-api/apis/v1alpha2"
	gatewayv1alpha3 "sigs.k8s.io/gateway-api/apis/v1alpha3"
	gatewayv1beta1 "sigs.k8s.io/gateway-api/apis/v1beta1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// projects are the API modules that are derived from their source, with all kinds that
// controller-gen finds in them.
var projects = []project{
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
	{name: "gateway-api v1.6.3", packages: []string{"sigs.k8s.io/gateway-api/apis/...", "sigs.k8s.io/gateway-api/apisx/..."}, module: "sigs.k8s.io/gateway-api@v1.6.3", note: "its own tags in texts, which its generator reads, are read by the test", derivedStep: gatewayTags, shipped: []string{"config/crd/experimental/*.yaml"}, kinds: []kind{
		of[gatewayv1.BackendTLSPolicy](),
		of[gatewayv1.GRPCRoute](),
		of[gatewayv1.Gateway](),
		of[gatewayv1.GatewayClass](),
		of[gatewayv1.HTTPRoute](),
		of[gatewayv1.ListenerSet](),
		of[gatewayv1.ReferenceGrant](),
		of[gatewayv1.TCPRoute](),
		of[gatewayv1.TLSRoute](),
		of[gatewayv1.UDPRoute](),
		of[gatewayv1alpha2.TCPRoute](),
		of[gatewayv1alpha2.TLSRoute](),
		of[gatewayv1alpha2.UDPRoute](),
		of[gatewayv1alpha3.BackendTLSPolicy](),
		of[gatewayv1alpha3.TLSRoute](),
		of[gatewayv1beta1.Gateway](),
		of[gatewayv1beta1.GatewayClass](),
		of[gatewayv1beta1.HTTPRoute](),
		of[gatewayv1beta1.ReferenceGrant](),
		of[gatewayxv1alpha1.XBackend](),
		of[gatewayxv1alpha1.XBackendTrafficPolicy](),
		of[gatewayxv1alpha1.XMesh](),
	}},
	{name: "cert-manager v1.21.2", packages: []string{"github.com/cert-manager/cert-manager/pkg/apis/acme/v1", "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"}, module: "github.com/cert-manager/cert-manager@v1.21.2", shipped: []string{"deploy/crds/*.yaml"}, kinds: []kind{
		of[acmev1.Challenge](),
		of[acmev1.Order](),
		of[certmanagerv1.Certificate](),
		of[certmanagerv1.CertificateRequest](),
		of[certmanagerv1.ClusterIssuer](),
		of[certmanagerv1.Issuer](),
	}},
	{name: "prometheus-operator v0.95.2", packages: []string{"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/..."}, kinds: []kind{
		of[monitoringv1.Alertmanager](),
		of[monitoringv1.PodMonitor](),
		of[monitoringv1.Probe](),
		of[monitoringv1.Prometheus](),
		of[monitoringv1.PrometheusRule](),
		of[monitoringv1.ServiceMonitor](),
		of[monitoringv1.ThanosRuler](),
		of[monitoringv1alpha1.AlertmanagerConfig](),
		of[monitoringv1alpha1.PrometheusAgent](),
		of[monitoringv1alpha1.ScrapeConfig](),
		of[monitoringv1beta1.AlertmanagerConfig](),
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
	{name: "metallb v0.16.2", packages: []string{"go.universe.tf/metallb/api/..."}, module: "go.universe.tf/metallb@v0.16.2", shipped: []string{"config/crd/bases/*.yaml"}, kinds: []kind{
		of[apiv1beta1.BFDProfile](),
		of[apiv1beta1.BGPAdvertisement](),
		of[apiv1beta1.BGPPeer](),
		of[apiv1beta1.Community](),
		of[apiv1beta1.ConfigurationState](),
		of[apiv1beta1.IPAddressPool](),
		of[apiv1beta1.L2Advertisement](),
		of[apiv1beta1.ServiceBGPStatus](),
		of[apiv1beta1.ServiceL2Status](),
		of[apiv1beta2.BGPPeer](),
	}},
	{name: "flux source-controller v1.10.1", packages: []string{"github.com/fluxcd/source-controller/api/..."}, module: "github.com/fluxcd/source-controller@v1.10.1", shipped: []string{"config/crd/bases/*.yaml"}, kinds: []kind{
		of[sourcev1.Bucket](),
		of[sourcev1.ExternalArtifact](),
		of[sourcev1.GitRepository](),
		of[sourcev1.HelmChart](),
		of[sourcev1.HelmRepository](),
		of[sourcev1.OCIRepository](),
	}},
}
