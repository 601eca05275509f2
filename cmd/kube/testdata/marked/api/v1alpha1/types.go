// Package v1alpha1 is the version before.
//
// +groupName=marked.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "example.com/marked/api/v1"
)

// Lamp is another version.
// +kubebuilder:resource:scope=Cluster,shortName=lp;lamp,path=lamps
// +kubebuilder:deprecatedversion:warning="use v1"
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec v1.LampSpec `json:"spec"`
}

// Bulb was given up.
// +kubebuilder:skipversion
type Bulb v1.Lamp
