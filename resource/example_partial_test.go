package resource_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

// AppConfig is a ConfigMap of which only the data matters.
type AppConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Data map[string]string `json:"data,omitempty"`
}

// AppConfigs are ConfigMaps: client.Namespaced(AppConfigs, "default") reads and watches them.
var AppConfigs = resource.Partial[AppConfig](core.ConfigMaps)

func ExamplePartial() {
	d := AppConfigs.Descriptor()
	fmt.Println(d, d.Scope)
	// Output: configmaps.v1 Namespaced
}
