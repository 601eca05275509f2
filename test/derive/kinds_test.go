//go:build !pinned

package derive

import (
	acmev1 "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	groupsnapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupsnapshotv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupsnapshotv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	monitoringv1beta1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1beta1"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	velerov2alpha1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v2alpha1"
	apiv1beta1 "go.universe.tf/metallb/api/v1beta1"
	apiv1beta2 "go.universe.tf/metallb/api/v1beta2"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1alpha2 "sigs.k8s.io/gateway-api/apis/v1alpha2"
	gatewayv1alpha3 "sigs.k8s.io/gateway-api/apis/v1alpha3"
	gatewayv1beta1 "sigs.k8s.io/gateway-api/apis/v1beta1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"
	policyv1alpha2 "sigs.k8s.io/network-policy-api/apis/v1alpha2"
	policyv1beta1 "sigs.k8s.io/network-policy-api/apis/v1beta1"
)

// others are the API modules whose YAML was made with the modules of go.mod.
var others = []project{
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
	{name: "external-snapshotter v8.7.0", packages: []string{"github.com/kubernetes-csi/external-snapshotter/client/v8/apis/..."}, module: "github.com/kubernetes-csi/external-snapshotter/client/v8@v8.7.0", note: "without versions that have no Go types, lines with TODO (of before controller-gen v0.16) and a change by hand", shippedStep: snapshotsOf, shipped: []string{"config/crd/*.yaml"}, kinds: []kind{
		of[groupsnapshotv1.VolumeGroupSnapshotClass](),
		of[groupsnapshotv1.VolumeGroupSnapshotContent](),
		of[groupsnapshotv1.VolumeGroupSnapshot](),
		of[groupsnapshotv1beta1.VolumeGroupSnapshotClass](),
		of[groupsnapshotv1beta1.VolumeGroupSnapshotContent](),
		of[groupsnapshotv1beta1.VolumeGroupSnapshot](),
		of[groupsnapshotv1beta2.VolumeGroupSnapshotClass](),
		of[groupsnapshotv1beta2.VolumeGroupSnapshotContent](),
		of[groupsnapshotv1beta2.VolumeGroupSnapshot](),
		of[snapshotv1.VolumeSnapshotClass](),
		of[snapshotv1.VolumeSnapshotContent](),
		of[snapshotv1.VolumeSnapshot](),
	}},
	{name: "network-policy-api v0.3.0", packages: []string{"sigs.k8s.io/network-policy-api/apis/v1alpha2", "sigs.k8s.io/network-policy-api/apis/v1beta1"}, module: "sigs.k8s.io/network-policy-api@v0.3.0", shipped: []string{"config/crd/experimental/policy*.yaml"}, kinds: []kind{
		of[policyv1alpha2.ClusterNetworkPolicy](),
		of[policyv1beta1.ClusterNetworkPolicy](),
	}},
	{name: "velero v1.18.3", packages: []string{"github.com/vmware-tanzu/velero/pkg/apis/velero/..."}, module: "github.com/vmware-tanzu/velero@v1.18.3", shipped: []string{"config/crd/*/bases/*.yaml"}, kinds: []kind{
		of[velerov1.BackupRepository](),
		of[velerov1.BackupStorageLocation](),
		of[velerov1.Backup](),
		of[velerov1.DeleteBackupRequest](),
		of[velerov1.DownloadRequest](),
		of[velerov1.PodVolumeBackup](),
		of[velerov1.PodVolumeRestore](),
		of[velerov1.Restore](),
		of[velerov1.Schedule](),
		of[velerov1.ServerStatusRequest](),
		of[velerov1.VolumeSnapshotLocation](),
		of[velerov2alpha1.DataDownload](),
		of[velerov2alpha1.DataUpload](),
	}},
}
