package kubetest

import (
	"fmt"
	"path"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podVolumes validates the volumes of a pod, and notes those that are good.
func (r *podRules) podVolumes(at *field.Path) {
	r.volumes = map[string]corev1.Volume{}
	created := sets.Set[string]{}
	for _, v := range r.spec.Volumes {
		if r.name != "" && v.Ephemeral != nil {
			created.Insert(r.name + "-" + v.Name)
		}
	}
	for i, v := range r.spec.Volumes {
		at := at.Index(i)
		before := len(r.list)
		r.volumeSource(at, &v)
		r.problems.name(at.Child("name"), v.Name, label)
		if _, ok := r.volumes[v.Name]; ok {
			r.duplicate(at.Child("name"), v.Name)
		}
		if len(r.list) == before {
			r.volumes[v.Name] = v
		}
		if c := v.PersistentVolumeClaim; c != nil && created.Has(c.ClaimName) {
			r.invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName, "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// sourceOrder is the order in which Kubernetes looks at the sources of a volume.
var sourceOrder = []string{
	"EmptyDir", "HostPath", "GitRepo", "GCEPersistentDisk", "AWSElasticBlockStore", "Secret", "NFS", "ISCSI", "Glusterfs",
	"PersistentVolumeClaim", "RBD", "Cinder", "CephFS", "Quobyte", "DownwardAPI", "FC", "FlexVolume", "ConfigMap", "AzureFile",
	"Flocker", "VsphereVolume", "AzureDisk", "StorageOS", "Projected", "PortworxVolume", "PhotonPersistentDisk", "ScaleIO",
	"CSI", "Ephemeral", "Image",
}

// volumeSource validates the one source that a volume has.
func (r *podRules) volumeSource(at *field.Path, v *corev1.Volume) {
	source := reflect.ValueOf(v.VolumeSource)
	count := 0
	for _, name := range sourceOrder {
		if source.FieldByName(name).IsNil() {
			continue
		}
		f, _ := source.Type().FieldByName(name)
		at := at.Child(strings.TrimSuffix(f.Tag.Get("json"), ",omitempty"))
		if count++; count > 1 {
			r.forbidden(at, "may not specify more than 1 volume type")
			continue
		}
		if !r.knownSource(at, v) {
			r.skip(at)
		}
	}
	if count == 0 {
		r.required(at, "must specify a volume type")
	}
}

// knownSource validates the source of a volume, and reports whether it knows how.
func (r *podRules) knownSource(at *field.Path, v *corev1.Volume) bool {
	switch s := v.VolumeSource; {
	case s.EmptyDir != nil:
		if limit := s.EmptyDir.SizeLimit; limit != nil && limit.Sign() < 0 {
			r.forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")
		}
	case s.HostPath != nil:
		r.hostPath(at, s.HostPath)
	case s.Secret != nil:
		if s.Secret.SecretName == "" {
			r.required(at.Child("secretName"), "")
		}
		r.mode(at.Child("defaultMode"), s.Secret.DefaultMode)
		r.items(at.Child("items"), s.Secret.Items)
	case s.ConfigMap != nil:
		if s.ConfigMap.Name == "" {
			r.required(at.Child("name"), "")
		}
		r.mode(at.Child("defaultMode"), s.ConfigMap.DefaultMode)
		r.items(at.Child("items"), s.ConfigMap.Items)
	case s.NFS != nil:
		r.nfs(at, s.NFS)
	case s.PersistentVolumeClaim != nil:
		if s.PersistentVolumeClaim.ClaimName == "" {
			r.required(at.Child("claimName"), "")
		}
	case s.DownwardAPI != nil:
		r.mode(at.Child("defaultMode"), s.DownwardAPI.DefaultMode)
		for _, f := range s.DownwardAPI.Items {
			r.downwardFile(at, &f)
		}
	case s.Projected != nil:
		r.mode(at.Child("defaultMode"), s.Projected.DefaultMode)
		r.projections(at, s.Projected.Sources)
	case s.CSI != nil:
		r.csi(at, s.CSI)
	case s.Ephemeral != nil:
		r.ephemeralClaim(at, v)
	case s.Image != nil:
		if s.Image.Reference == "" {
			r.required(at.Child("reference"), "")
		}
		requiredOneOf(r.problems, at.Child("pullPolicy"), s.Image.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	default:
		return false
	}
	return true
}

func (r *podRules) hostPath(at *field.Path, s *corev1.HostPathVolumeSource) {
	if s.Path == "" {
		r.required(at.Child("path"), "")
		return
	}
	r.noBacksteps(at.Child("path"), s.Path)
	if s.Type != nil {
		oneOf(r.problems, at.Child("type"), *s.Type, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
			corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)
	}
}

func (r *podRules) nfs(at *field.Path, s *corev1.NFSVolumeSource) {
	if s.Server == "" {
		r.required(at.Child("server"), "")
	}
	if s.Path == "" {
		r.required(at.Child("path"), "")
	}
	if !path.IsAbs(s.Path) {
		r.invalid(at.Child("path"), s.Path, "must be an absolute path")
	}
}

// mode validates the permissions of a file.
func (p *problems) mode(at *field.Path, mode *int32) {
	if mode != nil && (*mode > 0o777 || *mode < 0) {
		p.invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

func (r *podRules) items(at *field.Path, items []corev1.KeyToPath) {
	for i, item := range items {
		at := at.Index(i)
		if item.Key == "" {
			r.required(at.Child("key"), "")
		}
		if item.Path == "" {
			r.required(at.Child("path"), "")
		}
		r.localPath(at.Child("path"), item.Path)
		r.mode(at.Child("mode"), item.Mode)
	}
}

// fileFields are the fields of a pod that can be the content of a file.
var fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

func (r *podRules) downwardFile(at *field.Path, f *corev1.DownwardAPIVolumeFile) {
	if f.Path == "" {
		r.required(at.Child("path"), "")
	}
	r.localPath(at.Child("path"), f.Path)
	switch {
	case f.FieldRef != nil:
		r.fieldRef(at.Child("fieldRef"), f.FieldRef, fileFields)
		if f.ResourceFieldRef != nil {
			r.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case f.ResourceFieldRef != nil:
		r.resourceRef(at.Child("resourceFieldRef"), f.ResourceFieldRef, true)
	default:
		r.required(at, "one of fieldRef and resourceFieldRef is required")
	}
	r.mode(at.Child("mode"), f.Mode)
}

// projections validates the sources of a projected volume.
func (r *podRules) projections(at *field.Path, sources []corev1.VolumeProjection) {
	paths := sets.Set[string]{}
	once := func(target string, value any) {
		if target != "" && paths.Has(target) {
			r.invalid(at, value, "conflicting duplicate paths")
		}
		paths.Insert(target)
	}
	for i, s := range sources {
		item := at.Child("sources").Index(i)
		count := 0
		named := func(at *field.Path, name string, items []corev1.KeyToPath) {
			count++
			if name == "" {
				r.required(at.Child("name"), "")
			}
			r.items(at.Child("items"), items)
			for _, i := range items {
				once(i.Path, name)
			}
		}
		if s.Secret != nil {
			named(item.Child("secret"), s.Secret.Name, s.Secret.Items)
		}
		if s.ConfigMap != nil {
			named(item.Child("configMap"), s.ConfigMap.Name, s.ConfigMap.Items)
		}
		if s.DownwardAPI != nil {
			count++
			for _, f := range s.DownwardAPI.Items {
				r.downwardFile(item.Child("downwardAPI"), &f)
				once(f.Path, f.Path)
			}
		}
		if s.ServiceAccountToken != nil {
			count++
			r.token(at, item.Child("serviceAccountToken"), s.ServiceAccountToken)
		}
		if s.ClusterTrustBundle != nil || s.PodCertificate != nil {
			count++
			r.skip(item)
		}
		if count > 1 {
			r.forbidden(item, "may not specify more than 1 volume type per source")
		}
	}
}

func (r *podRules) token(volume, at *field.Path, token *corev1.ServiceAccountTokenProjection) {
	const shortest, longest = 10 * 60, 1 << 32
	switch seconds := token.ExpirationSeconds; {
	case seconds == nil:
		r.required(at.Child("expirationSeconds"), "")
	case *seconds < shortest:
		r.invalid(at.Child("expirationSeconds"), *seconds, "may not specify a duration less than 10 minutes")
	case *seconds > longest:
		r.invalid(at.Child("expirationSeconds"), *seconds, "may not specify a duration larger than 2^32 seconds")
	}
	if token.Path == "" {
		r.required(volume.Child("path"), "")
	} else {
		r.localPath(volume.Child("path"), token.Path)
	}
}

func (r *podRules) csi(at *field.Path, s *corev1.CSIVolumeSource) {
	r.driverName(at.Child("driver"), s.Driver)
	if ref := s.NodePublishSecretRef; ref != nil {
		if ref.Name == "" {
			r.required(at.Child("nodePublishSecretRef", "name"), "")
		} else {
			r.invalid(at.Child("name"), ref.Name, subdomain(ref.Name)...)
		}
	}
}

// driverName validates the name of a CSI driver.
func (p *problems) driverName(at *field.Path, name string) {
	const longest = 63
	if name == "" {
		p.required(at, "")
		return
	}
	if len(name) > longest {
		p.add(field.TooLong(at, "", longest))
	}
	p.invalid(at, name, subdomain(strings.ToLower(name))...)
}

// ephemeralClaim validates a volume that gets a claim of its own.
func (r *podRules) ephemeralClaim(at *field.Path, v *corev1.Volume) {
	template := v.Ephemeral.VolumeClaimTemplate
	if template == nil {
		r.required(at.Child("volumeClaimTemplate"), "")
	} else {
		at := at.Child("volumeClaimTemplate")
		r.templateMeta(at.Child("metadata"), &template.ObjectMeta)
		r.claimSpec(at.Child("spec"), &template.Spec)
	}
	if r.name != "" && v.Name != "" {
		claim := r.name + "-" + v.Name
		for _, msg := range subdomain(claim) {
			r.invalid(at.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", claim, msg))
		}
	}
}

var templateMetaFields = sets.New("Annotations", "Labels")

// templateMeta validates metadata that can have labels and annotations only.
func (p *problems) templateMeta(at *field.Path, m *metav1.ObjectMeta) {
	p.add(validation.ValidateAnnotations(m.Annotations, at.Child("annotations"))...)
	p.add(unversioned.ValidateLabels(m.Labels, at.Child("labels"))...)
	p.onlyFields(at, *m, templateMetaFields, "cannot be set")
}

// volumeAccessModes are what can be done with a volume.
var volumeAccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

// claimSpec validates the spec of a claim, or of a template of one.
func (p *problems) claimSpec(at *field.Path, s *corev1.PersistentVolumeClaimSpec) {
	if len(s.AccessModes) == 0 {
		p.required(at.Child("accessModes"), "at least 1 access mode is required")
	}
	if s.Selector != nil {
		p.selector(at.Child("selector"), s.Selector)
	}
	p.modes(at.Child("accessModes"), s.AccessModes)
	storage := at.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; !ok {
		p.required(storage, "")
	} else if q.Sign() <= 0 {
		p.invalid(storage, q.String(), notPositive)
	}
	if s.StorageClassName != nil && *s.StorageClassName != "" {
		p.invalid(at.Child("storageClassName"), *s.StorageClassName, subdomain(*s.StorageClassName)...)
	}
	if s.VolumeMode != nil {
		oneOf(p, at.Child("volumeMode"), *s.VolumeMode, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
	}
	if s.DataSource != nil {
		p.dataSource(at.Child("dataSource"), s.DataSource)
	}
	if s.DataSourceRef != nil {
		p.skip(at.Child("dataSourceRef"))
	}
	if s.VolumeAttributesClassName != nil && *s.VolumeAttributesClassName != "" {
		p.invalid(at.Child("volumeAttributesClassName"), *s.VolumeAttributesClassName, subdomain(*s.VolumeAttributesClassName)...)
	}
}

// modes validates access modes, of which the one for a single pod stands alone.
func (p *problems) modes(at *field.Path, modes []corev1.PersistentVolumeAccessMode) {
	pod, other := false, false
	for _, mode := range modes {
		before := len(p.list)
		oneOf(p, at, mode, volumeAccessModes...)
		pod = pod || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && len(p.list) == before
	}
	if pod && other {
		p.forbidden(at, "may not use ReadWriteOncePod with other access modes")
	}
}

func (p *problems) dataSource(at *field.Path, s *corev1.TypedLocalObjectReference) {
	if s.Name == "" {
		p.required(at.Child("name"), "")
	}
	if s.Kind == "" {
		p.required(at.Child("kind"), "")
	}
	group := ""
	if s.APIGroup != nil {
		group = *s.APIGroup
	}
	if group == "" && s.Kind != "PersistentVolumeClaim" {
		p.invalid(at, s.Kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
	if group != "" {
		p.invalid(at.Child("apiGroup"), group, utilvalidation.IsDNS1123Subdomain(group)...)
	}
}

// selector validates a label selector.
func (p *problems) selector(at *field.Path, s *metav1.LabelSelector) {
	p.add(unversioned.ValidateLabelSelector(s, unversioned.LabelSelectorValidationOptions{}, at)...)
}
