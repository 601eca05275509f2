package csr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/csr"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube", "github.com/go-kube/kube/resource", "github.com/go-kube/kube/kubeconfig",
		"github.com/go-kube/kube/internal/...", "github.com/go-kube/kube/k8s/...",
		"sigs.k8s.io/yaml/...", "go.yaml.in/yaml/v3/...", "golang.org/x/sync/...", "k8s.io/api/...",
	)
}

// cluster has one request, and refuses as many writes as told with a conflict.
type cluster struct {
	request   certificatesv1.CertificateSigningRequest
	conflicts int
	log       []string
}

func (c *cluster) RoundTrip(req *http.Request) (*http.Response, error) {
	c.log = append(c.log, req.Method+" "+req.URL.Path)
	if !strings.Contains(req.URL.Path, "/device") {
		return answer(404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"none","details":{"name":"x"}}`), nil
	}
	if req.Method == http.MethodPut {
		if c.conflicts > 0 {
			c.conflicts--
			return answer(409, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"changed"}`), nil
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		// After the magic bytes stands an Unknown with the object in it.
		var outer runtime.Unknown
		if err := outer.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
			return nil, err
		}
		c.request = certificatesv1.CertificateSigningRequest{}
		if err := c.request.Unmarshal(outer.Raw); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(c.request)
	return answer(200, string(body)), err
}

func answer(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

func (c *cluster) client() *kube.Client {
	c.request.Name, c.request.ResourceVersion = "device", "1"
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: c})
	if err != nil {
		panic(err)
	}
	return client
}

type decision func(ctx context.Context, client *kube.Client, name, reason, message string) (*certificatesv1.CertificateSigningRequest, error)

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name   string
		before certificatesv1.RequestConditionType
		decide decision
		reason string
		want   string // conditions as type/status/reason/message, or the error
		writes int
	}{
		{"approve", "", csr.Approve, "Known", "Approved/True/Known/it is", 1},
		{"deny", "", csr.Deny, "Unknown", "Denied/True/Unknown/it is", 1},
		{"without a reason", "", csr.Approve, "", "Approved/True/Approved/it is", 1},
		{"approve again", certificatesv1.CertificateApproved, csr.Approve, "Known", "Approved///", 0},
		{"deny again", certificatesv1.CertificateDenied, csr.Deny, "Known", "Denied///", 0},
		{"deny what was approved", certificatesv1.CertificateApproved, csr.Deny, "", "csr: device cannot be Denied: decided already", 0},
		{"approve what was denied", certificatesv1.CertificateDenied, csr.Approve, "", "csr: device cannot be Approved: decided already", 0},
		{"beside another condition", certificatesv1.CertificateFailed, csr.Approve, "Known", "Failed/// Approved/True/Known/it is", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{}
			if test.before != "" {
				c.request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: test.before}}
			}
			got, err := test.decide(t.Context(), c.client(), "device", test.reason, "it is")
			text := fmt.Sprint(err)
			if err == nil {
				var all []string
				for _, cond := range got.Status.Conditions {
					all = append(all, fmt.Sprintf("%s/%s/%s/%s", cond.Type, cond.Status, cond.Reason, cond.Message))
				}
				text = strings.Join(all, " ")
			}
			if text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
			if errors.Is(err, csr.ErrDecided) != strings.Contains(test.want, "decided already") {
				t.Error(err)
			}
			want := []string{"GET /apis/certificates.k8s.io/v1/certificatesigningrequests/device"}
			if test.writes > 0 {
				want = append(want, "PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/device/approval")
			}
			if diff := cmp.Diff(want, c.log); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	c := &cluster{conflicts: 2}
	if _, err := csr.Approve(t.Context(), c.client(), "device", "", ""); err != nil || len(c.log) != 6 || len(c.request.Status.Conditions) != 1 {
		t.Errorf("%v, %v", err, c.log)
	}
	c = &cluster{conflicts: 1000}
	if _, err := csr.Approve(t.Context(), c.client(), "device", "", ""); !errors.Is(err, kube.ErrConflict) || len(c.log) != 20 {
		t.Errorf("%v after %d requests", err, len(c.log))
	}
}

func TestNotFound(t *testing.T) {
	c := &cluster{}
	if _, err := csr.Deny(t.Context(), c.client(), "none", "", ""); !errors.Is(err, kube.ErrNotFound) {
		t.Error(err)
	}
}

func ExampleApprove() {
	cluster := &cluster{}
	client := cluster.client()
	request, err := csr.Approve(context.Background(), client, "device", "DeviceKnown", "its serial number is in the list")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(csr.Decision(request))
	_, err = csr.Deny(context.Background(), client, "device", "", "")
	fmt.Println(err)
	// Output:
	// true true
	// csr: device cannot be Denied: decided already
}
