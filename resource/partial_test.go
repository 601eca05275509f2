package resource

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type head struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

type partialPod struct {
	head
	Spec struct {
		NodeName   string             `json:"nodeName,omitempty"`
		Containers []partialContainer `json:"containers,omitempty"`
		Selector   struct {
			Zone string `json:"zone,omitempty"`
		} `json:"nodeSelector,omitzero"`
		Affinity json.RawMessage `json:"affinity,omitempty"`
		Overhead any             `json:"overhead,omitempty"`
		Priority *int64          `json:"priority,omitempty"`
	} `json:"spec"`
	Skipped int `json:"-"`
	hidden  int
}

type partialContainer struct {
	Name  string `json:"name"`
	Image imageName
	Ports [1]struct {
		Port int32 `json:"containerPort"`
	} `json:"ports"`
	Lifecycle *struct {
		PreStop struct {
			HTTP struct {
				Port intstr.IntOrString `json:"port"`
			} `json:"httpGet"`
		} `json:"preStop"`
	} `json:"lifecycle,omitempty"`
}

type imageName string

// tree is recursive, as JSONSchemaProps is.
type tree struct {
	Name  string `json:"name"`
	Nodes []tree `json:"nodes"`
}

type otherTree struct {
	Nodes []*otherTree `json:"nodes"`
}

func TestComparePartial(t *testing.T) {
	for name, test := range map[string]struct {
		part, whole reflect.Type
		want        []string
	}{
		"pod": {reflect.TypeFor[partialPod](), reflect.TypeFor[corev1.Pod](), []string{
			`partialPod.Spec.Containers[].Image: v1.Container has no field "Image" in JSON, only args, command, env`,
		}},
		"head":      {reflect.TypeFor[head](), reflect.TypeFor[corev1.Secret](), nil},
		"recursive": {reflect.TypeFor[otherTree](), reflect.TypeFor[tree](), nil},
		"bytes": {reflect.TypeFor[struct {
			Data map[string]string `json:"data"`
		}](), reflect.TypeFor[corev1.Secret](), nil},
		"several": {reflect.TypeFor[struct {
			Data       []string                     `json:"data"`
			Immutable  string                       `json:"immutable"`
			Binary     map[string]map[string]string `json:"binaryData"`
			Metadata   fmt.Stringer                 `json:"metadata"`
			APIVersion bool                         `json:"apiVersion"`
		}](), reflect.TypeFor[corev1.ConfigMap](), []string{
			".Data is a []string, and map[string]string reads other JSON",
			".Immutable is a string, and bool reads other JSON",
			".Binary[] is a map[string]string, and []uint8 reads other JSON",
			".Metadata is a fmt.Stringer, and v1.ObjectMeta reads other JSON",
			".APIVersion is a bool, and string reads other JSON",
		}},
		"no struct": {reflect.TypeFor[map[string]any](), reflect.TypeFor[corev1.ConfigMap](), []string{"map[string]interface {} is not a struct"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := comparePartial(test.part, test.whole)
			if len(test.want) == 0 && err != nil {
				t.Error(err)
			}
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
			if err != nil && len(strings.Split(err.Error(), "\n")) != len(test.want) {
				t.Errorf("got %v, want %d errors", err, len(test.want))
			}
		})
	}
	_ = partialPod{}.hidden
}

func TestPartialDescriptor(t *testing.T) {
	base := BuiltinCluster[corev1.Namespace](Info{Version: "v1", Kind: "Namespace", Protobuf: true}, UnmarshalMessage[corev1.Namespace])
	d := PartialCluster[head](base).Descriptor()
	if d.Plural != "namespaces" || d.Scope != ClusterScoped || d.Protobuf || !d.Partial || d.unmarshal != nil {
		t.Errorf("got %+v", d)
	}
	if m := PartialCluster[head](base).Metadata().Descriptor(); !m.MetadataOnly || m.Plural != "namespaces" {
		t.Errorf("got %+v", m)
	}
	if whole := base.Descriptor(); !whole.Protobuf || whole.Partial || whole.unmarshal == nil {
		t.Errorf("the base became %+v", whole)
	}
	of := Partial[head](Partial[head](DefineNamespaced[corev1.ConfigMap](Info{Version: "v1", Kind: "ConfigMap"})))
	if d := of.Descriptor(); d.Kind != "ConfigMap" || d.Scope != NamespaceScoped || !d.Partial {
		t.Errorf("got %+v", d)
	}
}

func TestPartialPanics(t *testing.T) {
	type wrong struct {
		head
		Dta map[string]string `json:"dta"`
	}
	kind := Partial[wrong](DefineNamespaced[corev1.ConfigMap](Info{Version: "v1", Kind: "ConfigMap"}))
	defer func() {
		want := `wrong.Dta: v1.ConfigMap has no field "dta" in JSON, only apiVersion, binaryData, data, immutable, kind, metadata`
		if p := fmt.Sprint(recover()); !strings.Contains(p, want) || !strings.Contains(p, "resource.wrong is no part of v1.ConfigMap") {
			t.Errorf("got %s, want %s", p, want)
		}
	}()
	kind.Descriptor()
}
