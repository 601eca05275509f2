package kubetest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Environment variables and what is mounted.

func (r *podRules) env(at *field.Path, vars []corev1.EnvVar) {
	for i, v := range vars {
		at := at.Index(i)
		r.problems.name(at.Child("name"), v.Name, utilvalidation.IsRelaxedEnvVarName)
		if v.ValueFrom != nil {
			r.valueFrom(at.Child("valueFrom"), v.Value, v.ValueFrom)
		}
	}
}

// envFields are the fields of a pod that can be the value of a variable.
var envFields = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

func (r *podRules) valueFrom(at *field.Path, value string, from *corev1.EnvVarSource) {
	sources := 0
	if from.FieldRef != nil {
		sources++
		r.fieldRef(at.Child("fieldRef"), from.FieldRef, envFields)
	}
	if from.ResourceFieldRef != nil {
		sources++
		r.resourceRef(at.Child("resourceFieldRef"), from.ResourceFieldRef, false)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		sources++
		r.keyRef(at.Child("configMapKeyRef"), ref.Name, ref.Key)
	}
	if ref := from.SecretKeyRef; ref != nil {
		sources++
		r.keyRef(at.Child("secretKeyRef"), ref.Name, ref.Key)
	}
	if ref := from.FileKeyRef; ref != nil {
		sources++
		r.fileRef(at.Child("fileKeyRef"), ref)
	}
	switch {
	case sources == 0:
		r.invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case value != "":
		r.invalid(at, "", "may not be specified when `value` is not empty")
	case sources > 1:
		r.invalid(at, "", "may not have more than one field specified at a time")
	}
}

func (r *podRules) keyRef(at *field.Path, name, key string) {
	r.invalid(at.Child("name"), name, subdomain(name)...)
	r.problems.name(at.Child("key"), key, utilvalidation.IsConfigMapKey)
}

func (r *podRules) fileRef(at *field.Path, ref *corev1.FileKeySelector) {
	r.problems.name(at.Child("key"), ref.Key, utilvalidation.IsRelaxedEnvVarName)
	r.problems.name(at.Child("volumeName"), ref.VolumeName, label)
	if ref.Path == "" {
		r.required(at.Child("path"), "")
	} else {
		r.noBacksteps(at.Child("path"), ref.Path)
	}
}

// fieldRef validates a reference to a field of the pod.
func (r *podRules) fieldRef(at *field.Path, ref *corev1.ObjectFieldSelector, fields []string) {
	switch {
	case ref.APIVersion == "":
		r.required(at.Child("apiVersion"), "")
		return
	case ref.FieldPath == "":
		r.required(at.Child("fieldPath"), "")
		return
	case ref.APIVersion != "v1":
		r.invalid(at.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: unsupported pod version: "+ref.APIVersion)
		return
	}
	name, subscript, subscripted := subscriptOf(ref.FieldPath)
	switch {
	case subscripted && name == "metadata.annotations":
		r.invalid(at, strings.ToLower(subscript), qualified(strings.ToLower(subscript))...)
	case subscripted && name == "metadata.labels":
		r.invalid(at, subscript, qualified(subscript)...)
	case subscripted:
		r.invalid(at.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: field label does not support subscript: "+ref.FieldPath)
	case !slices.Contains(downwardFields, name):
		r.invalid(at.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: field label not supported: "+ref.FieldPath)
	case !slices.Contains(fields, name):
		r.add(field.NotSupported(at.Child("fieldPath"), name, fields))
	}
}

// downwardFields are all fields of a pod that can be referred to anywhere.
var downwardFields = append([]string{
	"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase",
}, envFields...)

// subscriptOf takes a path apart that ends in a subscript, such as metadata.labels['a'].
func subscriptOf(fieldPath string) (name, subscript string, ok bool) {
	rest, ok := strings.CutSuffix(fieldPath, "']")
	if !ok {
		return fieldPath, "", false
	}
	name, subscript, ok = strings.Cut(rest, "['")
	if !ok || name == "" {
		return fieldPath, "", false
	}
	return name, subscript, true
}

// resourceFields are the resources of a container that can be the value of a variable.
var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

func (r *podRules) resourceRef(at *field.Path, ref *corev1.ResourceFieldSelector, volume bool) {
	huge := strings.HasPrefix(ref.Resource, "requests.hugepages-") || strings.HasPrefix(ref.Resource, "limits.hugepages-")
	switch {
	case volume && ref.ContainerName == "":
		r.required(at.Child("containerName"), "")
	case ref.Resource == "":
		r.required(at.Child("resource"), "")
	case !slices.Contains(resourceFields, ref.Resource) && !huge:
		r.add(field.NotSupported(at.Child("resource"), ref.Resource, resourceFields))
	}
	if !ref.Divisor.IsZero() {
		r.divisor(at.Child("divisor"), ref.Resource, ref.Divisor.String(), huge)
	}
}

var byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

func (r *podRules) divisor(at *field.Path, name, divisor string, huge bool) {
	_, kind, _ := strings.Cut(name, ".")
	what := map[string]string{"memory": "memory", "ephemeral-storage": "local ephemeral storage"}[kind]
	if huge {
		what = "hugepages"
	}
	switch {
	case kind == "cpu" && divisor != "1m" && divisor != "1":
		r.invalid(at, name, "only divisor's values 1m and 1 are supported with the cpu resource")
	case what != "" && !slices.Contains(byteDivisors, divisor):
		r.invalid(at, name, fmt.Sprintf("only divisor's values %s are supported with the %s resource", strings.Join(byteDivisors, ", "), what))
	}
}

func (r *podRules) envFrom(at *field.Path, sources []corev1.EnvFromSource) {
	for i, source := range sources {
		item := at.Index(i)
		if source.Prefix != "" {
			r.invalid(item.Child("prefix"), source.Prefix, utilvalidation.IsRelaxedEnvVarName(source.Prefix)...)
		}
		count := 0
		if ref := source.ConfigMapRef; ref != nil {
			count++
			r.problems.name(item.Child("configMapRef", "name"), ref.Name, prefixOfSubdomain)
		}
		if ref := source.SecretRef; ref != nil {
			count++
			r.problems.name(item.Child("secretRef", "name"), ref.Name, prefixOfSubdomain)
		}
		switch {
		case count == 0:
			r.invalid(at, "", "must specify one of: `configMapRef` or `secretRef`")
		case count > 1:
			r.invalid(at, "", "may not have more than one field specified at a time")
		}
	}
}

// prefixOfSubdomain checks a name that more may follow.
func prefixOfSubdomain(name string) []string {
	if trimmed, ok := strings.CutSuffix(name, "-"); ok {
		name = trimmed + "a"
	}
	return subdomain(name)
}

// mounts validates where a container has its volumes.
func (r *podRules) mounts(at *field.Path, c *corev1.Container) {
	points := sets.Set[string]{}
	for i, m := range c.VolumeMounts {
		item := at.Index(i)
		if m.Name == "" {
			r.required(item.Child("name"), "")
		}
		if _, ok := r.volumes[m.Name]; !ok {
			r.add(field.NotFound(item.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			r.required(item.Child("mountPath"), "")
		}
		if points.Has(m.MountPath) {
			r.invalid(item.Child("mountPath"), m.MountPath, "must be unique")
		}
		points.Insert(m.MountPath)
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == m.Name }) {
			r.invalid(item.Child("name"), m.Name, "must not already exist in volumeDevices")
		}
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.DevicePath == m.MountPath }) {
			r.invalid(item.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices")
		}
		r.subPaths(at, item, &m)
		if m.MountPropagation != nil {
			r.propagation(at.Child("mountPropagation"), *m.MountPropagation, c.SecurityContext)
		}
		r.recursive(at.Child("recursiveReadOnly"), &m)
	}
}

// subPaths names fields of the list where Kubernetes does.
func (r *podRules) subPaths(list, item *field.Path, m *corev1.VolumeMount) {
	if m.SubPath != "" {
		r.descending(list.Child("subPath"), m.SubPath)
	}
	if m.SubPathExpr != "" {
		if m.SubPath != "" {
			r.invalid(item.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive")
		}
		r.descending(list.Child("subPathExpr"), m.SubPathExpr)
	}
}

func (r *podRules) propagation(at *field.Path, mode corev1.MountPropagationMode, sc *corev1.SecurityContext) {
	oneOf(r.problems, at, mode, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	privileged := sc != nil && sc.Privileged != nil && *sc.Privileged
	if mode == corev1.MountPropagationBidirectional && !privileged {
		r.forbidden(at, "Bidirectional mount propagation is available only to privileged containers")
	}
}

func (r *podRules) recursive(at *field.Path, m *corev1.VolumeMount) {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return
	}
	switch *m.RecursiveReadOnly {
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			r.forbidden(at, "may only be specified when readOnly is true")
		}
		if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
			r.forbidden(at, "may only be specified when mountPropagation is None or not specified")
		}
	default:
		oneOf(r.problems, at, *m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	}
}

// devices validates where a container has its block devices.
func (r *podRules) devices(at *field.Path, c *corev1.Container) {
	paths, names := sets.Set[string]{}, sets.Set[string]{}
	for i, d := range c.VolumeDevices {
		item := at.Index(i)
		volume, found := r.volumes[d.Name]
		if d.Name == "" {
			r.required(item.Child("name"), "")
		}
		if names.Has(d.Name) {
			r.invalid(item.Child("name"), d.Name, "must be unique")
		}
		if found && volume.PersistentVolumeClaim == nil && volume.Ephemeral == nil {
			r.invalid(item.Child("name"), d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if !found {
			r.add(field.NotFound(item.Child("name"), d.Name))
		}
		if d.DevicePath == "" {
			r.required(item.Child("devicePath"), "")
		}
		if paths.Has(d.DevicePath) {
			r.invalid(item.Child("devicePath"), d.DevicePath, "must be unique")
		}
		if slices.Contains(strings.Split(d.DevicePath, "/"), "..") {
			r.invalid(item.Child("devicePath"), d.DevicePath, "can not contain backsteps ('..')")
		} else {
			paths.Insert(d.DevicePath)
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
			r.invalid(item.Child("name"), d.Name, "must not already exist in volumeMounts")
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == d.DevicePath }) {
			r.invalid(item.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts")
		}
		if d.Name != "" {
			names.Insert(d.Name)
		}
	}
}

// descending validates a relative path that does not leave where it begins.
func (p *problems) descending(at *field.Path, target string) {
	if path.IsAbs(target) {
		p.invalid(at, target, "must be a relative path")
	}
	p.noBacksteps(at, target)
}

func (p *problems) noBacksteps(at *field.Path, target string) {
	if slices.Contains(strings.Split(target, "/"), "..") {
		p.invalid(at, target, "must not contain '..'")
	}
}

// localPath is descending of a path that does not begin as the names of the system do.
func (p *problems) localPath(at *field.Path, target string) {
	p.descending(at, target)
	if strings.HasPrefix(target, "..") && !strings.HasPrefix(target, "../") {
		p.invalid(at, target, "must not start with '..'")
	}
}
