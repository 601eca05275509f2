package kubetest

import "k8s.io/apimachinery/pkg/util/managedfields"

type definedVersion struct{}

func (d *definedVersion) fieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	return nil, nil
}
