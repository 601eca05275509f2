//lint:file-ignore SA5008 encoding/json names a field "-" by this tag

package codec

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// The operator of the tour.

type webAppSpec struct {
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
}

type webAppStatus struct {
	AvailableReplicas int32 `json:"availableReplicas"`
	Ready             bool  `json:"ready"`
}

type webApp = object[webAppSpec, webAppStatus]

// object is resource.Object, which this package cannot import.
type object[Spec, Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec    `json:"spec"`
	Status *Status `json:"status,omitempty"`
}

// gadget is a custom resource as the world writes them, with everything that a tag can say.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              gadgetSpec   `json:"spec,omitempty"`
	Status            gadgetStatus `json:"status,omitempty"`
}

type gadgetSpec struct {
	common  `json:",inline"`
	*Shared `json:",inline"`
	*Named  `json:"named,omitempty"`

	Enabled  bool    `json:"enabled"`
	Debug    bool    `json:"debug,omitempty"`
	Size     int64   `json:"size"`
	Weight   uint8   `json:"weight,omitempty"`
	Ratio    float64 `json:"ratio"`
	Text     string  `json:"text"`
	Comment  string  `json:"comment,omitempty"`
	Port     int32   `json:"port,string"`
	Label    string  `json:"label,omitempty,string"`
	Optional *int32  `json:"optional"`
	Flag     *bool   `json:"flag,omitempty"`
	Untagged string
	Hidden   string `json:"-"`
	Dash     string `json:"-,"`
	private  string

	Timeout    metav1.Duration                 `json:"timeout"`
	Wait       time.Duration                   `json:"wait"`
	Since      metav1.Time                     `json:"since,omitempty"`
	Micro      *metav1.MicroTime               `json:"micro,omitempty"`
	When       time.Time                       `json:"when,omitzero"`
	Capacity   apiresource.Quantity            `json:"capacity"`
	Limits     map[string]apiresource.Quantity `json:"limits"`
	TargetPort intstr.IntOrString              `json:"targetPort"`
	MaxSurge   *intstr.IntOrString             `json:"maxSurge,omitempty"`
	Extension  runtime.RawExtension            `json:"extension,omitempty"`
	Patches    []runtime.RawExtension          `json:"patches"`
	Raw        json.RawMessage                 `json:"raw,omitempty"`
	Number     json.Number                     `json:"number,omitempty"`
	Data       []byte                          `json:"data,omitempty"`
	Digest     [4]byte                         `json:"digest"`
	Pair       [2]int                          `json:"pair"`

	Values   any                    `json:"values,omitempty"`
	Free     map[string]any         `json:"free,omitempty"`
	Pools    map[string]pool        `json:"pools"`
	PoolRefs map[string]*pool       `json:"poolRefs,omitempty"`
	ByNumber map[int32]pool         `json:"byNumber,omitempty"`
	List     []pool                 `json:"list"`
	Pointers []*pool                `json:"pointers,omitempty"`
	Modes    []mode                 `json:"modes,omitempty"`
	Mode     mode                   `json:"mode"`
	Matrix   [][]string             `json:"matrix,omitempty"`
	Nested   nested                 `json:"nested"`
	Template corev1.PodTemplateSpec `json:"template"`
	Env      []corev1.EnvVar        `json:"env,omitempty"`
	Selector *metav1.LabelSelector  `json:"selector,omitempty"`
	Next     *gadgetSpec            `json:"next,omitempty"`
}

type common struct {
	Paused bool   `json:"paused"`
	Owner  string `json:"owner,omitempty"`
}

// Shared is embedded by pointer, so it has to be exported to be decoded.
type Shared struct {
	Region string `json:"region"`
}

// Named is embedded with a name, so nothing of it is promoted.
type Named struct {
	Title string `json:"title"`
}

type nested struct {
	Count int               `json:"count"`
	Tags  map[string]string `json:"tags,omitempty"`
}

type pool struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
}

// mode writes itself as text.
type mode int

func (m mode) MarshalText() ([]byte, error) { return []byte([]string{"off", "on"}[m]), nil }

func (m *mode) UnmarshalText(text []byte) error {
	*m = 0
	if string(text) == "on" {
		*m = 1
	}
	return nil
}

type gadgetStatus struct {
	Ready      bool               `json:"ready"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// newCustomFiller fills custom types with values that have a JSON form.
func newCustomFiller(t testing.TB, seed int64) *randfill.Filler {
	t.Helper()
	return newFiller(t, newScheme(t), seed).MaxDepth(8).Funcs(
		func(m *mode, c randfill.Continue) { *m = mode(c.Intn(2)) },
		func(raw *json.RawMessage, c randfill.Continue) { *raw = json.RawMessage(`{"a":[1,2.5e3,null,"<x>"]}`) },
		func(n *json.Number, c randfill.Continue) { *n = "12.50" },
		func(d *time.Time, c randfill.Continue) { *d = time.Unix(c.Int63n(1e9), 0).UTC() },
		func(v *any, c randfill.Continue) {
			*v = []any{nil, int64(5), 2.5, "x", true, map[string]any{"deep": []any{c.String(4)}}}[c.Intn(6)]
		},
	)
}
