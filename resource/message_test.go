package resource_test

import (
	"strings"
	"testing"

	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecodeProtobuf(t *testing.T) {
	pods := resource.BuiltinNamespaced[corev1.Pod](resource.Info{Version: "v1", Kind: "Pod", Protobuf: true},
		resource.UnmarshalMessage[corev1.Pod]).Descriptor()
	data, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := pods.DecodeProtobuf(data, &pod); err != nil || pod.Name != "p" {
		t.Errorf("decoded %q, %v", pod.Name, err)
	}
	for _, test := range []struct {
		name string
		d    *resource.Descriptor
		data []byte
		into any
		want string
	}{
		{"another type", pods, data, &corev1.Node{}, "*v1.Node"},
		{"broken", pods, []byte{0xff}, &pod, "unexpected EOF"},
		{"a kind without protobuf", gadgets.Descriptor(), data, &gadget{}, "has no decoder"},
	} {
		if err := test.d.DecodeProtobuf(test.data, test.into); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want it to say %q", test.name, err, test.want)
		}
	}
}
