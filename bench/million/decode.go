package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

// bareDecode returns what decodes the bytes of an object as a store does, without the store.
func bareDecode() func(body []byte) error {
	if !*asJSON {
		d := core.ConfigMaps.Descriptor()
		return func(body []byte) error { return d.DecodeProtobuf(body, new(corev1.ConfigMap)) }
	}
	d := jsonConfigMaps.Descriptor()
	return func(body []byte) error {
		raw, err := resource.ParseRaw(d, body)
		if err != nil {
			return err
		}
		_, err = resource.AsLazy[corev1.ConfigMap](raw).Decode()
		return err
	}
}
