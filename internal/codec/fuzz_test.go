package codec

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// FuzzDecodeJSON compares with the API machinery's decoder: both take the data or both refuse
// it, and what they read is the same.
func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(mustEncode(f, testPod())))
	f.Add([]byte(mustEncode(f, testWebApp())))
	f.Add([]byte(mustEncode(f, &gadget{})))
	f.Add([]byte(mustEncode(f, &oddities{})))
	f.Add([]byte(`{"name":"\ud800","number":-0,"quoted":"07","data":[1,2],"list":{},"array":[1],"any":{"a":[1e5,-1,1.0,null]},"modes":{"on":1},"time":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"items":[{"enum":[1,"x",null]}],"default":{}}},"additionalProperties":false}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		likeServer[oddities](t, data)
		likeServer[corev1.Pod](t, data)
		likeServer[gadget](t, data)
		likeServer[tolerated](t, data)
		likeServer[apiextensionsv1.JSONSchemaProps](t, data)
		likeServer[metav1.Status](t, data)
		likeServer[map[string]any](t, data)
		likeServer[any](t, data)
		likeServerUnstructured(t, data)
	})
}

func likeServer[T any](t *testing.T, data []byte) {
	t.Helper()
	var server, ours T
	serverErr := kjson.UnmarshalCaseSensitivePreserveInts(data, &server)
	err := DecodeJSON(data, &ours)
	if (err == nil) != (serverErr == nil) {
		t.Fatalf("into %T: the server says %v, ours says %v\nof %q", ours, serverErr, err, data)
	}
	if err == nil && !reflect.DeepEqual(server, ours) {
		t.Fatalf("into %T: server %s\nours %s\nof %q", ours, mustEncode(t, server), mustEncode(t, ours), data)
	}
}

func likeServerUnstructured(t *testing.T, data []byte) {
	t.Helper()
	var server map[string]any
	var ours unstructured.Unstructured
	serverErr := kjson.UnmarshalCaseSensitivePreserveInts(data, &server)
	err := DecodeJSON(data, &ours)
	if serverErr == nil && server == nil { // null, which is no object
		if err == nil {
			t.Fatalf("%q was taken for an object", data)
		}
		return
	}
	if (err == nil) != (serverErr == nil) {
		t.Fatalf("the server says %v, ours says %v", serverErr, err)
	}
	if err == nil && !reflect.DeepEqual(server, ours.Object) {
		t.Fatalf("-server +ours:\n%s", cmp.Diff(server, ours.Object))
	}
}

// FuzzDecodeStrict compares what is found with the API machinery's strict decoder.
func FuzzDecodeStrict(f *testing.F) {
	f.Add([]byte(`{"spce":{},"spec":{"containers":[{"image":"x","imge":"y","image":"z"}],"x":[{"y":1,"y":2}]}}`))
	f.Add([]byte(`{"metadata":{"labels":{"a":"1","a":"3"}},"status":{"conditions":[{"status":"","Type":""}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		server, err := kjson.UnmarshalStrict(data, new(corev1.Pod))
		if err != nil || len(server) >= maxProblems {
			return
		}
		err = DecodeStrict(data, new(corev1.Pod))
		if (len(server) == 0) != (err == nil) {
			t.Fatalf("server %v, ours %v", server, err)
		}
		for _, problem := range server {
			if !strings.Contains(err.Error(), problem.Error()) {
				t.Fatalf("%v lacks %v", err, problem)
			}
		}
	})
}

// FuzzEncodeApply decodes any JSON into types, and checks that their sparse form gives back
// all that the full form does.
func FuzzEncodeApply(f *testing.F) {
	f.Add([]byte(mustEncode(f, testPod())))
	f.Add([]byte(mustEncode(f, &gadget{})))
	f.Add([]byte(`{"spec":{"containers":[{},{"args":[""]}],"volumes":[{"emptyDir":{}}]},"metadata":{"labels":{"a":""}}}`))
	f.Add([]byte(`{"spec":{"any":{"a":[0,{}]},"map":{"a":{}},"rest":{"b":1,"a":0},"deep":0}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sparseGivesBackAll[corev1.Pod](t, data)
		sparseGivesBackAll[gadget](t, data)
		sparseGivesBackAll[holder](t, data)
	})
}

func sparseGivesBackAll[T any](t *testing.T, data []byte) {
	t.Helper()
	obj, full, again := new(T), new(T), new(T)
	if DecodeJSON(data, obj) != nil {
		return
	}
	any(obj).(metav1.Object).SetManagedFields(nil)
	fullJSON, err := EncodeObject(obj, "g/v1", "K")
	sparse, sparseErr := EncodeApply(obj, "g/v1", "K", nil)
	if (err == nil) != (sparseErr == nil) {
		t.Fatalf("full: %v, sparse: %v", err, sparseErr)
	}
	if err != nil {
		return
	}
	if err := DecodeJSON(fullJSON, full); err != nil {
		return // a value that does not survive a round trip, such as 1e999 in raw JSON
	}
	if err := DecodeJSON(sparse, again); err != nil {
		t.Fatalf("%v in %s", err, sparse)
	}
	if diff := cmp.Diff(mustEncode(t, full), mustEncode(t, again)); diff != "" {
		t.Fatalf("the sparse form lost something (-full +sparse):\n%s", diff)
	}
}

// FuzzParsePath: a path is refused or can be written back.
func FuzzParsePath(f *testing.F) {
	for _, path := range []string{"spec.replicas", "spec.containers[name=app].ports[0]", "a[b.c/d].e", "a[*][0].b", "", "a..b", "a[", "[0]"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := parsePath(path)
		if err != nil {
			return
		}
		var written strings.Builder
		for i, s := range steps {
			if s.field != "" && i > 0 {
				written.WriteByte('.')
			}
			written.WriteString(s.String())
		}
		if written.String() != path {
			t.Errorf("%q became %q", path, written.String())
		}
	})
}
