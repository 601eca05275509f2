package kubetest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// storageRules are the rules of the group storage.k8s.io.
func storageRules() map[schema.GroupKind]rules {
	return map[schema.GroupKind]rules{
		{Group: storagev1.GroupName, Kind: "StorageClass"}: ruled(checkStorageClass),
	}
}

func checkStorageClass(p *problems, obj, old *storagev1.StorageClass) {
	at := field.NewPath("provisioner")
	if obj.Provisioner == "" {
		p.declare(field.Required(at, ""))
	} else {
		p.invalid(at, strings.ToLower(obj.Provisioner), qualified(strings.ToLower(obj.Provisioner))...)
	}
	p.parameters(field.NewPath("parameters"), obj.Parameters)
	if policy := obj.ReclaimPolicy; policy != nil && *policy != "" {
		oneOf(p, field.NewPath("reclaimPolicy"), *policy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
	}
	if mode := obj.VolumeBindingMode; mode == nil {
		p.required(field.NewPath("volumeBindingMode"), "")
	} else {
		oneOf(p, field.NewPath("volumeBindingMode"), *mode, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)
	}
	p.topologies(field.NewPath("allowedTopologies"), obj.AllowedTopologies)
	if old == nil {
		return
	}
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"provisioner", obj.Provisioner, old.Provisioner}, {"parameters", obj.Parameters, old.Parameters},
		{"reclaimPolicy", obj.ReclaimPolicy, old.ReclaimPolicy}, {"volumeBindingMode", obj.VolumeBindingMode, old.VolumeBindingMode},
	} {
		if !equality.Semantic.DeepEqual(f.now, f.was) {
			p.declare(field.Invalid(field.NewPath(f.name), nil, immutable))
		}
	}
}

func (p *problems) parameters(at *field.Path, parameters map[string]string) {
	const most, largest = 512, 256 * 1024
	if len(parameters) > most {
		p.add(field.TooLong(at, "", most))
		return
	}
	size := 0
	for key, value := range parameters {
		if key == "" {
			p.invalid(at, key, "field can not be empty.")
		}
		size += len(key) + len(value)
	}
	if size > largest {
		p.add(field.TooLong(at, "", largest))
	}
}

func (p *problems) topologies(at *field.Path, terms []corev1.TopologySelectorTerm) {
	for i, term := range terms {
		keys := map[string]bool{}
		for j, e := range term.MatchLabelExpressions {
			at := at.Index(i).Child("matchLabelExpressions").Index(j)
			if len(e.Values) == 0 {
				p.required(at.Child("values"), "")
			}
			values := map[string]bool{}
			for k, v := range e.Values {
				if values[v] {
					p.duplicate(at.Child("values").Index(k), v)
				}
				values[v] = true
			}
			p.labelName(at.Child("key"), e.Key)
			if keys[e.Key] {
				p.duplicate(at.Child("key"), e.Key)
			}
			keys[e.Key] = true
		}
	}
}
