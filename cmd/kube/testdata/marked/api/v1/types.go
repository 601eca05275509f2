// +groupName=marked.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LampSpec is what is wanted.
type LampSpec struct {
	// Watts is how bright it is.
	// +kubebuilder:validation:Minimum=1
	Watts int32 `json:"watts"`
	// +optional
	// +kubebuilder:default=warm
	// +kubebuilder:validation:MaxLenght=9
	Tone string `json:"tone,omitempty"`
}

// Lamp gives light.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:scope=Cluster,shortName=lp;lamp,path=lamps
// +kubebuilder:printcolumn:name="Watts",type=integer,JSONPath=`.spec.watts`
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LampSpec `json:"spec"`
}

// LampList is no kind.
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}
