package codec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAdmissionReview reads what an API server sends to a webhook, with the objects in it as they
// came, and writes the answer.
func TestAdmissionReview(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","unknown":1},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	body := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"0c9a8d74","kind":{"group":"","version":"v1","kind":"Pod"},
		"resource":{"group":"","version":"v1","resource":"pods"},"requestKind":{"group":"","version":"v1","kind":"Pod"},"requestResource":{"group":"","version":"v1","resource":"pods"},
		"name":"p","namespace":"ns","operation":"CREATE","userInfo":{"username":"admin","uid":"7","groups":["system:masters","system:authenticated"],"extra":{"a/b":["c"]}},
		"object":` + object + `,"oldObject":null,"dryRun":true,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}}`
	var review admissionv1.AdmissionReview
	if err := DecodeJSON([]byte(body), &review); err != nil {
		t.Fatal(err)
	}
	r := review.Request
	if r.UID != "0c9a8d74" || r.Operation != admissionv1.Create || r.UserInfo.UID != "7" || !*r.DryRun || r.Resource.Resource != "pods" || r.UserInfo.Extra["a/b"][0] != "c" {
		t.Errorf("read %+v", r)
	}
	if string(r.Object.Raw) != object {
		t.Errorf("the object is %s", r.Object.Raw)
	}
	var pod corev1.Pod
	if err := DecodeJSON(r.Object.Raw, &pod); err != nil || pod.Name != "p" || len(pod.Spec.Containers) != 1 {
		t.Errorf("%v, %+v", err, pod)
	}
	patch := admissionv1.PatchTypeJSONPatch
	review.Request, review.Response = nil, &admissionv1.AdmissionResponse{UID: r.UID, Allowed: true, PatchType: &patch, Patch: []byte(`[]`)}
	text, err := EncodeJSON(&review)
	want := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"0c9a8d74","allowed":true,"patch":"W10=","patchType":"JSONPatch"}}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// TestConversionReview does the same for what is asked of a converter.
func TestConversionReview(t *testing.T) {
	body := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"f2630e44","desiredAPIVersion":"example.com/v2",
		"objects":[{"apiVersion":"example.com/v1","kind":"App","metadata":{"name":"a"},"n":1},{"apiVersion":"example.com/v1","kind":"App","metadata":{"name":"b"}}]}}`
	var review apiextensionsv1.ConversionReview
	if err := DecodeJSON([]byte(body), &review); err != nil {
		t.Fatal(err)
	}
	want := &apiextensionsv1.ConversionRequest{UID: types.UID("f2630e44"), DesiredAPIVersion: "example.com/v2"}
	got := review.Request
	if len(got.Objects) != 2 || string(got.Objects[0].Raw) != `{"apiVersion":"example.com/v1","kind":"App","metadata":{"name":"a"},"n":1}` {
		t.Fatalf("objects %v", got.Objects)
	}
	objects := got.Objects
	got.Objects = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	review.Request, review.Response = nil, &apiextensionsv1.ConversionResponse{UID: got.UID, ConvertedObjects: objects}
	review.Response.Result.Status = "Success"
	text, err := EncodeJSON(&review)
	answer := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"f2630e44","convertedObjects":[` +
		string(objects[0].Raw) + `,` + string(objects[1].Raw) + `],"result":{"metadata":{},"status":"Success"}}}`
	if err != nil || string(text) != answer {
		t.Errorf("%s, %v, want %s", text, err, answer)
	}
}
