package codec

import (
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var named = metav1.ObjectMeta{Name: "x"}

func TestEncodeApplyOfKubernetesTypes(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string // without apiVersion and kind
	}{
		{"what is set and nothing else",
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}}},
			}},
			`{"metadata":{"name":"web","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[{"name":"web","image":"nginx"}]}}}}`},
		{"a required field that is zero", // serviceName has no omitempty
			&appsv1.StatefulSet{ObjectMeta: named, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2))}},
			`{"metadata":{"name":"x"},"spec":{"replicas":2}}`},
		{"a pointer to zero",
			&appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))}},
			`{"metadata":{"name":"x"},"spec":{"replicas":0}}`},
		{"a pointer to false and one to an empty string",
			&corev1.PersistentVolumeClaim{ObjectMeta: named, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("")}},
			`{"metadata":{"name":"x"},"spec":{"storageClassName":""}}`},
		{"a pointer to an empty struct",
			&corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}}},
			`{"metadata":{"name":"x"},"spec":{"volumes":[{"name":"tmp","emptyDir":{}}]}}`},
		{"elements that are zero",
			&networkingv1.NetworkPolicy{ObjectMeta: named, Spec: networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{}, {From: []networkingv1.NetworkPolicyPeer{{}}}}}},
			`{"metadata":{"name":"x"},"spec":{"ingress":[{},{"from":[{}]}]}}`},
		{"elements that are zero scalars",
			&corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Args: []string{"", "x"}}}}},
			`{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a","args":["","x"]}]}}`},
		{"values of maps that are zero",
			&corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"b": "", "a": "1"}, BinaryData: map[string][]byte{"c": {}, "d": {255}, "e": nil}},
			`{"metadata":{"name":"x"},"data":{"a":"1","b":""},"binaryData":{"c":"","d":"/w==","e":null}}`},
		{"an empty list and map under omitempty are absent ones",
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{}}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{}}},
			`{"metadata":{"name":"x"}}`},
		{"an empty list without omitempty is set",
			&rbacv1.Role{ObjectMeta: named, Rules: []rbacv1.PolicyRule{}},
			`{"metadata":{"name":"x"},"rules":[]}`},
		{"a nil list without omitempty is not",
			&rbacv1.Role{ObjectMeta: named},
			`{"metadata":{"name":"x"}}`},
		{"a quantity of zero is set, an empty one is not",
			&corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": apiresource.MustParse("0"), "memory": apiresource.MustParse("1Gi")}},
				Env: []corev1.EnvVar{
					{Name: "set", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "cpu", Divisor: apiresource.MustParse("0")}}},
					{Name: "unset", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "cpu"}}},
				}}}}},
			`{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a","env":[{"name":"set","valueFrom":{"resourceFieldRef":{"resource":"cpu","divisor":"0"}}},{"name":"unset","valueFrom":{"resourceFieldRef":{"resource":"cpu"}}}],"resources":{"limits":{"cpu":"0","memory":"1Gi"}}}]}}`},
		{"an IntOrString",
			&corev1.Service{ObjectMeta: named, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}, {Port: 81, TargetPort: intstr.FromString("web")}, {Port: 82, TargetPort: intstr.FromInt32(8080)}}}},
			`{"metadata":{"name":"x"},"spec":{"ports":[{"port":80},{"port":81,"targetPort":"web"},{"port":82,"targetPort":8080}]}}`},
		{"an IntOrString of zero behind a pointer",
			&appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(0))}}}},
			`{"metadata":{"name":"x"},"spec":{"strategy":{"rollingUpdate":{"maxSurge":0}}}}`},
		{"times: those of the server are kept, zero ones are not",
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", CreationTimestamp: metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), DeletionTimestamp: &metav1.Time{}}},
			`{"metadata":{"name":"x","creationTimestamp":"2026-01-02T03:04:05Z"}}`},
		{"a zero time with a place is not set either",
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", CreationTimestamp: metav1.NewTime(time.Time{}.In(time.FixedZone("here", 0)))}},
			`{"metadata":{"name":"x"}}`},
		{"managedFields go, resourceVersion and uid stay",
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "u", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}},
			`{"metadata":{"name":"x","uid":"u","resourceVersion":"7"}}`},
		{"managedFields of an object inside are data",
			&appsv1.ControllerRevision{ObjectMeta: named, Data: runtime.RawExtension{Raw: []byte(`{"metadata":{"managedFields":[]}}`)}},
			`{"metadata":{"name":"x"},"data":{"metadata":{"managedFields":[]}}}`},
		{"an own apiVersion and kind are replaced",
			&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v2", Kind: "Map"}, ObjectMeta: named},
			`{"metadata":{"name":"x"}}`},
		{"those of references inside are kept",
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: new(false)}}}},
			`{"metadata":{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":false}]}}`},
		{"a CustomResourceDefinition",
			&apiextensionsv1.CustomResourceDefinition{ObjectMeta: named, Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "g",
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}}}}},
			`{"metadata":{"name":"x"},"spec":{"group":"g","versions":[{"name":"v1","served":true,"subresources":{"status":{}}}]}}`},
		{"text that needs escapes, and text that is no UTF-8",
			&corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"a\"b": "<\n\x00>", "c": "a\xffb"}},
			`{"metadata":{"name":"x"},"data":{"a\"b":"<\n\u0000>","c":"a` + "\ufffd" + `b"}}`},
		{"nothing at all", &corev1.ConfigMap{}, `{}`},
		{"a value instead of a pointer", corev1.ConfigMap{ObjectMeta: named}, `{"metadata":{"name":"x"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantApply(t, test.obj, nil, test.want) })
	}
}

// wantApply checks what is sent for obj, but for apiVersion and kind, which it checks itself.
func wantApply(t *testing.T, obj any, zero []string, want string) {
	t.Helper()
	before := mustEncode(t, obj)
	data, err := EncodeApply(obj, "g/v1", "K", zero)
	if err != nil {
		t.Fatal(err)
	}
	if after := mustEncode(t, obj); before != after {
		t.Errorf("the object was changed (-before +after):\n%s", cmp.Diff(before, after))
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if string(got["apiVersion"]) != `"g/v1"` || string(got["kind"]) != `"K"` {
		t.Errorf("apiVersion and kind are not those given: %s", data)
	}
	if n := strings.Count(string(data), `"g/v1"`); n != 1 {
		t.Errorf("apiVersion is there %d times: %s", n, data)
	}
	delete(got, "apiVersion")
	delete(got, "kind")
	rest, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(canonical(t, want), canonical(t, string(rest))); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// canonical returns the one form of a JSON value.
func canonical(t *testing.T, data string) string {
	t.Helper()
	value := jsontext.Value(data)
	if err := value.Canonicalize(); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return string(value)
}

func TestEncodeApplyOfCustomTypes(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"a status that is all zero",
			&webApp{ObjectMeta: named, Status: &webAppStatus{}},
			`{"metadata":{"name":"x"},"status":{"availableReplicas":0,"ready":false}}`},
		{"a spec that is not set",
			&webApp{ObjectMeta: named},
			`{"metadata":{"name":"x"}}`},
		{"a spec with a zero that its schema requires",
			&webApp{ObjectMeta: named, Spec: webAppSpec{Image: "nginx"}},
			`{"metadata":{"name":"x"},"spec":{"image":"nginx","replicas":0}}`},
		{"every kind of tag, next to nothing set",
			&gadget{ObjectMeta: named, Spec: gadgetSpec{Comment: "c", Hidden: "h", private: "p"}},
			`{"metadata":{"name":"x"},"spec":{"paused":false,"enabled":false,"size":0,"ratio":0,"text":"","comment":"c","port":"0","Untagged":"","-":"","wait":0,"digest":[0,0,0,0],"pair":[0,0],"mode":"off"}}`},
		{"embedded structs",
			&gadget{ObjectMeta: named, Spec: gadgetSpec{common: common{Owner: "o"}, Shared: &Shared{}, Named: &Named{}}},
			`{"metadata":{"name":"x"},"spec":{"paused":false,"owner":"o","region":"","named":{"title":""},"enabled":false,"size":0,"ratio":0,"text":"","port":"0","Untagged":"","-":"","wait":0,"digest":[0,0,0,0],"pair":[0,0],"mode":"off"}}`},
		{"conditions of Kubernetes are checked by the schema of the custom resource",
			&gadget{ObjectMeta: named, Status: gadgetStatus{Ready: false, Conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "R", LastTransitionTime: metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}}},
			`{"metadata":{"name":"x"},"status":{"ready":false,"conditions":[{"type":"Ready","status":"False","reason":"R","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`},
		{"lists, maps and pointers",
			&holder{ObjectMeta: named, Spec: holderSpec{
				List: []pool{{}, {Name: "a", Size: 1}}, Empty: []pool{}, EmptyOmitted: []pool{}, Pointers: []*pool{nil, {}},
				Map: map[string]pool{"z": {}, "a": {Size: 2}}, Numbers: map[int32]pool{-3: {}, 10: {}}, Modes: map[mode]bool{1: false}, EmptyMap: map[string]string{},
				Pointer: &pool{}, Deep: new(new(0)),
			}},
			`{"metadata":{"name":"x"},"spec":{"list":[{"name":""},{"name":"a","size":1}],"empty":[],"pointers":[null,{"name":""}],"map":{"a":{"name":"","size":2},"z":{"name":""}},"numbers":{"-3":{"name":""},"10":{"name":""}},"modes":{"on":false},"emptyMap":{},"pointer":{"name":""},"deep":0}}`},
		{"types of Kubernetes inside",
			&holder{ObjectMeta: named, Spec: holderSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "a"}}, Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			}}}},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"tmp","emptyDir":{}}]}}}}`},
		{"zero structs, whatever writes them",
			&holder{ObjectMeta: named, Spec: holderSpec{List: []pool{{Name: "a"}}, Duration: metav1.Duration{}, When: time.Time{}, Quantity: apiresource.Quantity{}, Port: intstr.IntOrString{}, Raw: runtime.RawExtension{}}},
			`{"metadata":{"name":"x"},"spec":{"list":[{"name":"a"}]}}`},
		{"the same structs, set",
			&holder{ObjectMeta: named, Spec: holderSpec{Duration: metav1.Duration{Duration: time.Minute}, When: time.Unix(0, 0).UTC(), Quantity: apiresource.MustParse("0"), Port: intstr.FromString(""), Raw: runtime.RawExtension{Raw: []byte(`{"a": 1}`)}}},
			`{"metadata":{"name":"x"},"spec":{"duration":"1m0s","when":"1970-01-01T00:00:00Z","quantity":"0","port":"","raw":{"a":1}}}`},
		{"what is in interfaces is sent as it is",
			&holder{ObjectMeta: named, Spec: holderSpec{Any: map[string]any{"b": nil, "a": []any{0, false, ""}, "c": pool{}}}},
			`{"metadata":{"name":"x"},"spec":{"any":{"a":[0,false,""],"b":null,"c":{"name":""}}}}`},
		{"a field for the rest of the object",
			&holder{ObjectMeta: named, Spec: holderSpec{Rest: rest{A: 1, Others: map[string]any{"b": 0}}}},
			`{"metadata":{"name":"x"},"spec":{"rest":{"a":1,"b":0}}}`},
		{"a field for the rest that is raw",
			&holder{ObjectMeta: named, Spec: holderSpec{RawRest: &rawRest{Others: jsontext.Value(` { "b" : [ ] } `)}}},
			`{"metadata":{"name":"x"},"spec":{"rawRest":{"b":[]}}}`},
		{"a field for the rest that is empty",
			&holder{ObjectMeta: named, Spec: holderSpec{RawRest: &rawRest{}}},
			`{"metadata":{"name":"x"},"spec":{"rawRest":{}}}`},
		{"managedFields of a metadata behind a pointer",
			&oddMeta{Metadata: &metav1.ObjectMeta{Name: "x", ManagedFields: []metav1.ManagedFieldsEntry{{}}}},
			`{"metadata":{"name":"x"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantApply(t, test.obj, nil, test.want) })
	}
}

type holder struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              holderSpec `json:"spec"`
}

type holderSpec struct {
	List         []pool            `json:"list"`
	Empty        []pool            `json:"empty"`
	EmptyOmitted []pool            `json:"emptyOmitted,omitempty"`
	Pointers     []*pool           `json:"pointers"`
	Map          map[string]pool   `json:"map"`
	Numbers      map[int32]pool    `json:"numbers"`
	Modes        map[mode]bool     `json:"modes"`
	EmptyMap     map[string]string `json:"emptyMap"`
	Pointer      *pool             `json:"pointer"`
	Deep         **int             `json:"deep"`
	Any          any               `json:"any"`

	Duration metav1.Duration        `json:"duration"`
	When     time.Time              `json:"when"`
	Quantity apiresource.Quantity   `json:"quantity"`
	Port     intstr.IntOrString     `json:"port"`
	Raw      runtime.RawExtension   `json:"raw"`
	Template corev1.PodTemplateSpec `json:"template"`
	Rest     rest                   `json:"rest"`
	RawRest  *rawRest               `json:"rawRest"`
}

type rest struct {
	A      int            `json:"a"`
	Others map[string]any `json:",embed"`
}

type rawRest struct {
	Others jsontext.Value `json:",embed"`
}

type oddMeta struct {
	metav1.TypeMeta
	Metadata *metav1.ObjectMeta `json:"metadata"`
}

// applyConfiguration stands for those of client-go.
type applyConfiguration struct {
	Kind       *string        `json:"kind,omitempty"`
	APIVersion *string        `json:"apiVersion,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Replicas   *int32         `json:"replicas,omitempty"`
	Always     bool           `json:"always"`
}

func (*applyConfiguration) IsApplyConfiguration() {}

// ownJSON decides for itself.
type ownJSON struct{ Name string }

func (o ownJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{"name": o.Name}, "zero": 0})
}

func TestEncodeApplyOfWhatIsSentAsIs(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"an unstructured object",
			&unstructured.Unstructured{Object: map[string]any{"kind": "Other", "metadata": map[string]any{"name": "x", "managedFields": []any{}, "labels": map[string]any{}}, "spec": map[string]any{"replicas": int64(0)}}},
			`{"metadata":{"name":"x","labels":{}},"spec":{"replicas":0}}`},
		{"an unstructured object without anything", &unstructured.Unstructured{}, `{}`},
		{"an unstructured object by value",
			unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x", "managedFields": nil}}},
			`{"metadata":{"name":"x"}}`},
		{"an apply configuration",
			&applyConfiguration{Kind: new("Other"), Metadata: map[string]any{"managedFields": nil, "name": "x"}, Replicas: new(int32(0))},
			`{"metadata":{"name":"x"},"replicas":0,"always":false}`},
		{"a map", map[string]any{"metadata": map[string]any{"name": "x"}, "big": uint64(1<<63 + 1)}, `{"big":9223372036854775809,"metadata":{"name":"x"}}`},
		{"a type that writes itself", &ownJSON{"x"}, `{"metadata":{"name":"x"},"zero":0}`},
		{"raw JSON", json.RawMessage(`{"spec":{"a":null}}`), `{"spec":{"a":null}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantApply(t, test.obj, nil, test.want) })
	}
}

func TestEncodeApplyIsDeterministic(t *testing.T) {
	data := make(map[string]string)
	var members []string
	for c := 'a'; c <= 'z'; c++ {
		data[string(c)] = "v"
		members = append(members, `"`+string(c)+`":"v"`)
	}
	want := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{` + strings.Join(members, ",") + `}}`
	for range 10 {
		got, err := EncodeApply(&corev1.ConfigMap{ObjectMeta: named, Data: data}, "v1", "ConfigMap", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

func TestEncodeApplyRefuses(t *testing.T) {
	loop := &looped{}
	loop.Next = loop
	tests := []struct {
		name string
		obj  any
		zero []string
		want string
	}{
		{"nothing", nil, nil, `there is no object`},
		{"a nil pointer", (*corev1.Pod)(nil), nil, `there is no object: the *v1.Pod is nil`},
		{"a list", []int{1}, nil, `an object is needed, not a []int`},
		{"raw JSON of a list", json.RawMessage(`[1]`), nil, `an object is needed`},
		{"a value that is no JSON", &holder{Spec: holderSpec{Any: func() {}}}, nil, `at /spec/any`},
		{"a value inside of a map and a list", &broken{Items: map[string][]unwritable{"k": {{}}}}, nil, `encode codec.broken at /items/k/0: `},
		{"raw JSON that is none", &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{`)}}, nil, `encode v1.ControllerRevision at /data`},
		{"a value that contains itself", loop, nil, `nested too deep`},
		{"zero fields of an unstructured object", &unstructured.Unstructured{Object: map[string]any{}}, []string{"spec.replicas"}, `set "spec.replicas" in it`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := EncodeApply(test.obj, "v1", "K", test.zero)
			if err == nil {
				t.Fatalf("no error, but %s", data)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q lacks %q", err, test.want)
			}
		})
	}
}

type looped struct {
	Next *looped `json:"next"`
}

type broken struct {
	Items map[string][]unwritable `json:"items"`
}

type unwritable struct{}

var errUnwritable = errors.New("cannot be written")

func (unwritable) MarshalJSON() ([]byte, error) { return nil, errUnwritable }

func TestEncodeApplyErrorUnwraps(t *testing.T) {
	_, err := EncodeApply(&broken{Items: map[string][]unwritable{"a/b": {{}}}}, "v1", "K", nil)
	if !errors.Is(err, errUnwritable) {
		t.Errorf("%v does not unwrap to the cause", err)
	}
	located, ok := errors.AsType[*Error](err)
	if !ok || located.Pointer != "/items/a~1b/0" {
		t.Errorf("got %+v", located)
	}
}
