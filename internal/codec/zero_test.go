package codec

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func deploymentOf(containers ...corev1.Container) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}}}}
}

func TestEncodeApplyZero(t *testing.T) {
	service := &corev1.Service{ObjectMeta: named, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: "dns", Port: 53, Protocol: "UDP"}, {Name: "dns-tcp", Port: 53, Protocol: "TCP", NodePort: 30053},
	}}}
	pools := &holder{ObjectMeta: named, Spec: holderSpec{Map: map[string]pool{"a.b/c": {Name: "p"}, "d": {Name: "q"}}, Numbers: map[int32]pool{7: {}}, Pointers: []*pool{nil, {Name: "r"}}}}
	tests := []struct {
		name string
		obj  any
		zero []string
		want string
	}{
		{"a pointer that is nil", deploymentOf(), []string{"spec.replicas"},
			`{"metadata":{"name":"x"},"spec":{"replicas":0}}`},
		{"one that points to zero is sent anyway", &appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))}}, []string{"spec.replicas"},
			`{"metadata":{"name":"x"},"spec":{"replicas":0}}`},
		{"a field in a struct that is not sent otherwise", deploymentOf(), []string{"spec.template.spec.hostNetwork"},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"hostNetwork":false}}}}`},
		{"a field behind a pointer that is nil", deploymentOf(), []string{"spec.template.spec.securityContext.runAsNonRoot", "spec.template.spec.securityContext.runAsUser"},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"securityContext":{"runAsNonRoot":false,"runAsUser":0}}}}}`},
		{"text, a list, a map, a struct", deploymentOf(corev1.Container{Name: "a"}), []string{"spec.template.spec.nodeName", "spec.template.spec.volumes", "metadata.labels", "spec.strategy"},
			`{"metadata":{"name":"x","labels":{}},"spec":{"strategy":{},"template":{"spec":{"nodeName":"","volumes":[],"containers":[{"name":"a"}]}}}}`},
		{"a list that is empty and not nil", &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Volumes: []corev1.Volume{}}}, []string{"spec.volumes"},
			`{"metadata":{"name":"x"},"spec":{"volumes":[]}}`},
		{"a type with a MarshalJSON", &corev1.Service{ObjectMeta: named, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}, []string{"spec.ports[0].targetPort"},
			`{"metadata":{"name":"x"},"spec":{"ports":[{"port":1,"targetPort":0}]}}`},
		{"a time is null then", &corev1.Pod{ObjectMeta: named}, []string{"metadata.creationTimestamp"}, `{"metadata":{"name":"x","creationTimestamp":null}}`},
		{"an element by its key", deploymentOf(corev1.Container{Name: "a"}, corev1.Container{Name: "b"}), []string{"spec.template.spec.containers[name=b].stdin"},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","stdin":false}]}}}}`},
		{"an element by two keys", service, []string{"spec.ports[port=53,protocol=UDP].nodePort"},
			`{"metadata":{"name":"x"},"spec":{"ports":[{"name":"dns","port":53,"protocol":"UDP","nodePort":0},{"name":"dns-tcp","port":53,"protocol":"TCP","nodePort":30053}]}}`},
		{"every element, also one that is set", service, []string{"spec.ports[*].nodePort"},
			`{"metadata":{"name":"x"},"spec":{"ports":[{"name":"dns","port":53,"protocol":"UDP","nodePort":0},{"name":"dns-tcp","port":53,"protocol":"TCP","nodePort":30053}]}}`},
		{"bytes and an interface", &gadget{ObjectMeta: named}, []string{"spec.data", "spec.values", "spec.raw"},
			`{"metadata":{"name":"x"},"spec":{"data":"","values":null,"raw":null}}`},
		{"an element by its index", deploymentOf(corev1.Container{Name: "a"}, corev1.Container{Name: "b"}), []string{"spec.template.spec.containers[1].tty"},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","tty":false}]}}}}`},
		{"every element", deploymentOf(corev1.Container{Name: "a"}, corev1.Container{Name: "b"}), []string{"spec.template.spec.containers[*].securityContext.privileged"},
			`{"metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"a","securityContext":{"privileged":false}},{"name":"b","securityContext":{"privileged":false}}]}}}}`},
		{"an element that is a nil pointer", pools, []string{"spec.pointers[0].size"},
			`{"metadata":{"name":"x"},"spec":{"map":{"a.b/c":{"name":"p"},"d":{"name":"q"}},"numbers":{"7":{"name":""}},"pointers":[{"size":0},{"name":"r"}]}}`},
		{"a value of a map", pools, []string{"spec.map[a.b/c].size", "spec.numbers[7].size"},
			`{"metadata":{"name":"x"},"spec":{"map":{"a.b/c":{"name":"p","size":0},"d":{"name":"q"}},"numbers":{"7":{"name":"","size":0}},"pointers":[null,{"name":"r"}]}}`},
		{"every value of a map", pools, []string{"spec.map[*].size"},
			`{"metadata":{"name":"x"},"spec":{"map":{"a.b/c":{"name":"p","size":0},"d":{"name":"q","size":0}},"numbers":{"7":{"name":""}},"pointers":[null,{"name":"r"}]}}`},
		{"what is there already", pools, []string{"spec.map[d]", "spec.pointers[0]"},
			`{"metadata":{"name":"x"},"spec":{"map":{"a.b/c":{"name":"p"},"d":{"name":"q"}},"numbers":{"7":{"name":""}},"pointers":[null,{"name":"r"}]}}`},
		{"a zero struct of a custom type has what its tags say", &gadget{ObjectMeta: named}, []string{"spec.nested", "status.conditions"},
			`{"metadata":{"name":"x"},"spec":{"nested":{"count":0}},"status":{"conditions":[]}}`},
		{"a struct and what is in it", deploymentOf(), []string{"spec.strategy.type", "spec.strategy", "spec.strategy.rollingUpdate"},
			`{"metadata":{"name":"x"},"spec":{"strategy":{"type":"","rollingUpdate":{}}}}`},
		{"promoted fields", &gadget{ObjectMeta: named}, []string{"spec.owner", "spec.region", "spec.named.title"},
			`{"metadata":{"name":"x"},"spec":{"owner":"","region":"","named":{"title":""}}}`},
		{"a number that is written as text", &gadget{ObjectMeta: named}, []string{"spec.port", "spec.label"},
			`{"metadata":{"name":"x"},"spec":{"port":"0","label":"\"\""}}`},
		{"a field named -", &gadget{ObjectMeta: named}, []string{"spec.-"}, `{"metadata":{"name":"x"},"spec":{"-":""}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantApply(t, test.obj, test.zero, test.want) })
	}
}

func TestEncodeApplyZeroRefuses(t *testing.T) {
	obj := deploymentOf(corev1.Container{Name: "a", Args: []string{"x"}})
	obj.Spec.Replicas = new(int32(3))
	obj.Labels = map[string]string{"app": "web"}
	tests := []struct{ path, want string }{
		{"spec.replica", `v1.DeploymentSpec has no field "replica"; did you mean "replicas"?`},
		{"spec.Replicas", `did you mean "replicas"?`},
		{"spec.xyzzy", `no field "xyzzy", only replicas, selector, template, `},
		{"spec.replicas", `it is set to 3, which is sent anyway`},
		{"spec.replicas.x", `nothing inside of int32 can be named`},
		{"metadata.name", `it is set, which`},
		{"spec", `it is set, which`},
		{"spec.template.spec.containers", `it is set, which`},
		{"spec.template.spec.containers.stdin", `[]v1.Container has no field "stdin"; choose its elements with [key=value], [index] or [*]`},
		{"spec.template.spec.containers[name=b].stdin", `no element of the list is [name=b]; it has 1`},
		{"spec.template.spec.containers[nam=a].stdin", `did you mean "name"?`},
		{"spec.template.spec.containers[a].stdin", `[a] is no index, no * and no key=value`},
		{"spec.template.spec.containers[7].stdin", `no element of the list is [7]; it has 1`},
		{"spec.template.spec.containers[name=a].args[k=v].x", `[k=v] needs elements with fields, not string`},
		{"spec.template.spec.volumes[*].name", `no element of the list is [*]; it has 0`},
		{"spec[0].replicas", `v1.DeploymentSpec is no list and no map: [0] cannot follow it`},
		{"metadata.labels[tier]", `the map has no key "tier"`},
		{"metadata.labels.app", `map[string]string has no field "app"; choose its values with [key] or [*]`},
		{"metadata.creationTimestamp.x", `nothing inside of v1.Time can be named`},
		{"metadata.managedFields", `the server refuses an apply that has managedFields`},
		{"metadata.managedFields[0].manager", `the server refuses an apply that has managedFields`},
		{"", `the path is empty`},
		{".spec", `a field name is missing before ".spec"`},
		{"spec..replicas", `a field name is missing before ".replicas"`},
		{"spec.", `a point and a field name are needed, not "."`},
		{"spec.a[", `"[" needs a closing bracket`},
		{"spec.a[]", `"[]" needs a closing bracket with a key`},
		{"spec.a[0]b", `a point and a field name are needed, not "b"`},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			data, err := EncodeApply(obj, "apps/v1", "Deployment", []string{test.path})
			if err == nil {
				t.Fatalf("no error, but %s", data)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"`+test.path+`" of v1.Deployment`) {
				t.Errorf("error %q lacks %q or the path", err, test.want)
			}
		})
	}
}

// TestEncodeApplyZeroKeepsTheRest: naming a zero field changes nothing else.
func TestEncodeApplyZeroKeepsTheRest(t *testing.T) {
	obj := deploymentOf(corev1.Container{Name: "a", Env: []corev1.EnvVar{{Name: "E"}}})
	obj.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	obj.Annotations = map[string]string{"number": "1"}
	wantApply(t, obj, []string{"spec.paused"},
		`{"metadata":{"name":"x","annotations":{"number":"1"}},"spec":{"paused":false,"template":{"spec":{"containers":[{"name":"a","env":[{"name":"E"}]}]}}}}`)
}
