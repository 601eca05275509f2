package kubetest

import corev1 "k8s.io/api/core/v1"

// defaultSecret completes a Secret, and moves its stringData, which only ever comes in, into its
// data.
func defaultSecret(o *corev1.Secret) {
	setDefault(&o.Type, corev1.SecretTypeOpaque)
	if len(o.StringData) > 0 && o.Data == nil {
		o.Data = make(map[string][]byte, len(o.StringData))
	}
	for key, value := range o.StringData {
		o.Data[key] = []byte(value)
	}
	o.StringData = nil
}
