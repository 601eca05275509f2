package codec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// partial embeds only ObjectMeta, and so gets its protobuf methods, which know no spec.
type partial struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              webAppSpec `json:"spec"`
}

// alias is the same message as what it embeds.
type alias struct{ corev1.ConfigMap }

func TestSupportsProtobuf(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want bool
	}{
		{"a pod", &corev1.Pod{}, true},
		{"options of a delete", &metav1.DeleteOptions{}, true},
		{"metadata", &metav1.PartialObjectMetadata{}, true},
		{"what embeds a message and adds nothing", &alias{}, true},
		{"a custom resource", &webApp{}, false},
		{"a custom resource with a part that is a message", &partial{}, false},
		{"a pod by value", corev1.Pod{}, false},
		{"nil", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := SupportsProtobuf(test.obj); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestEncodeProtobufOfOptions reads the envelope back, as the server does.
func TestEncodeProtobufOfOptions(t *testing.T) {
	tests := []struct {
		name string
		obj  interface {
			runtime.Object
			Unmarshal([]byte) error
		}
		into interface {
			runtime.Object
			Unmarshal([]byte) error
		}
		kind string
	}{
		{"delete", &metav1.DeleteOptions{GracePeriodSeconds: new(int64(5)), PropagationPolicy: new(metav1.DeletePropagationForeground), DryRun: []string{"All"}, Preconditions: metav1.NewUIDPreconditions("u")}, &metav1.DeleteOptions{}, "DeleteOptions"},
		{"create", &metav1.CreateOptions{FieldManager: "m"}, &metav1.CreateOptions{}, "CreateOptions"},
		{"empty", &metav1.DeleteOptions{}, &metav1.DeleteOptions{}, "DeleteOptions"},
		{"large", &corev1.ConfigMap{Data: map[string]string{"a": strings.Repeat("x", 1<<20)}}, &corev1.ConfigMap{}, "ConfigMap"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := EncodeProtobuf(test.obj, "v1", test.kind)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(data, []byte("k8s\x00")) || len(data) != cap(data) && len(data) < 1000 {
				t.Errorf("prefix or size are wrong: %d bytes in %d, %q", len(data), cap(data), data[:8])
			}
			var envelope runtime.Unknown
			if err := envelope.Unmarshal(data[4:]); err != nil {
				t.Fatal(err)
			}
			if envelope.APIVersion != "v1" || envelope.Kind != test.kind || envelope.ContentType != "" {
				t.Errorf("envelope says %s %s %q", envelope.APIVersion, envelope.Kind, envelope.ContentType)
			}
			if err := DecodeProtobuf(envelope.Raw, test.into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.obj, test.into); diff != "" {
				t.Errorf("-sent +received:\n%s", diff)
			}
		})
	}
}

func TestEncodeProtobufAllocatesOnce(t *testing.T) {
	// A type without maps, whose own marshalling allocates nothing.
	obj := &metav1.DeleteOptions{GracePeriodSeconds: new(int64(5)), DryRun: []string{"All"}}
	if got := testing.AllocsPerRun(100, func() {
		if _, err := EncodeProtobuf(obj, "v1", "DeleteOptions"); err != nil {
			t.Fatal(err)
		}
	}); got != 1 {
		t.Errorf("%v allocations", got)
	}
}

func TestDecodeProtobufReplaces(t *testing.T) {
	message, err := (&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"f"}}, Data: map[string]string{"old": "1"}}
	if err := DecodeProtobuf(message, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProtobufRefuses(t *testing.T) {
	body, err := EncodeProtobuf(&corev1.ConfigMap{}, "v1", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		do   func() error
		want string
	}{
		{"encode a custom resource", func() error { _, err := EncodeProtobuf(&webApp{}, "e/v1", "W"); return err },
			`encode e/v1 W as protobuf: a codec.object[codec.webAppSpec,codec.webAppStatus] has no protobuf form; send JSON`},
		{"encode a part", func() error { _, err := EncodeProtobuf(&partial{}, "e/v1", "W"); return err }, `a codec.partial has no protobuf form`},
		{"encode nil", func() error { _, err := EncodeProtobuf(nil, "v1", "Pod"); return err }, `there is no object, only nil`},
		{"encode a nil pointer", func() error { _, err := EncodeProtobuf((*corev1.Pod)(nil), "v1", "Pod"); return err }, `the *v1.Pod is nil`},
		{"decode into a custom resource", func() error { return DecodeProtobuf(nil, &webApp{}) }, `the type has no protobuf form; ask the server for JSON`},
		{"decode into a part", func() error { return DecodeProtobuf(nil, &partial{}) }, `decode codec.partial: the type has no protobuf form`},
		{"decode into nil", func() error { return DecodeProtobuf(nil, nil) }, `there is nothing to decode into`},
		{"decode into a nil pointer", func() error { return DecodeProtobuf(nil, (*corev1.Pod)(nil)) }, `the *v1.Pod to decode into is nil`},
		{"decode into a value", func() error { return DecodeProtobuf(nil, corev1.Pod{}) }, `a pointer to decode into is needed`},
		{"decode a whole body", func() error { return DecodeProtobuf(body, &corev1.ConfigMap{}) }, `decode v1.ConfigMap: the data is a whole body with its envelope`},
		{"decode what is cut off", func() error { return DecodeProtobuf([]byte{0x0a, 0x05, 0x01}, &corev1.ConfigMap{}) }, `decode v1.ConfigMap: field metadata: unexpected EOF`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.do(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, it lacks %q", err, test.want)
			}
		})
	}
}
