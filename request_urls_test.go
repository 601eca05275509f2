package kube_test

import (
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/admissionregistration"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/authorization"
	autoscaling "github.com/go-kube/kube/k8s/autoscaling/v1"
	"github.com/go-kube/kube/k8s/batch"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/networking"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/k8s/storage"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRequestAddresses builds requests of many kinds, and looks at their address and media type.
func TestRequestAddresses(t *testing.T) {
	ctx := t.Context()
	n := metav1.ObjectMeta{Name: "n"}
	const (
		proto     = "application/vnd.kubernetes.protobuf"
		merge     = "application/merge-patch+json"
		strategic = "application/strategic-merge-patch+json"
	)
	for _, test := range []struct {
		want  string // METHOD path?query
		media string
		call  func(c *kube.Client) error
	}{
		{"POST /api/v1/namespaces/ns/secrets", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(core.Secrets, "ns").Create(ctx, &corev1.Secret{ObjectMeta: n}, nil))
		}},
		{"POST /apis/apps/v1/namespaces/ns/replicasets", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(apps.ReplicaSets, "ns").Create(ctx, &appsv1.ReplicaSet{ObjectMeta: n}, nil))
		}},
		{"POST /apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(rbac.Roles, "ns").Create(ctx, &rbacv1.Role{ObjectMeta: n}, nil))
		}},
		{"POST /apis/batch/v1/namespaces/ns/cronjobs", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(batch.CronJobs, "ns").Create(ctx, &batchv1.CronJob{ObjectMeta: n}, nil))
		}},
		{"POST /apis/autoscaling/v1/namespaces/ns/horizontalpodautoscalers", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(autoscaling.HorizontalPodAutoscalers, "ns").Create(ctx, &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: n}, nil))
		}},
		{"POST /apis/networking.k8s.io/v1/namespaces/ns/networkpolicies", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(networking.NetworkPolicies, "ns").Create(ctx, &networkingv1.NetworkPolicy{ObjectMeta: n}, nil))
		}},
		{"POST /apis/networking.k8s.io/v1/namespaces/ns/ingresses", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(networking.Ingresses, "ns").Create(ctx, &networkingv1.Ingress{ObjectMeta: n}, nil))
		}},
		{"POST /apis/storage.k8s.io/v1/volumeattachments", proto, func(c *kube.Client) error {
			return drop(c.All(storage.VolumeAttachments).Create(ctx, &storagev1.VolumeAttachment{ObjectMeta: n}, nil))
		}},
		{"POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", proto, func(c *kube.Client) error {
			return drop(c.All(admissionregistration.ValidatingWebhookConfigurations).Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: n}, nil))
		}},
		{"POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews", proto, func(c *kube.Client) error {
			return drop(c.All(authorization.SelfSubjectRulesReviews).Create(ctx, &authorizationv1.SelfSubjectRulesReview{}, nil))
		}},
		{"POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", proto, func(c *kube.Client) error {
			return drop(c.All(apiextensions.CustomResourceDefinitions).Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: n}, nil))
		}},
		{"GET /api/v1/namespaces", "", func(c *kube.Client) error { return drop(c.All(core.Namespaces).List(ctx, nil)) }},
		{"GET /api/v1/pods?resourceVersion=5&resourceVersionMatch=NotOlderThan", "", func(c *kube.Client) error {
			return drop(c.All(core.Pods.Metadata()).List(ctx, &kube.ListOptions{ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}))
		}},
		{"GET /api/v1/pods?resourceVersion=0&resourceVersionMatch=NotOlderThan", "", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}))
		}},
		{"GET /api/v1/namespaces/ns/pods/n?resourceVersion=665", "", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods.Metadata(), "ns").GetWith(ctx, "n", &kube.GetOptions{ResourceVersion: "665"}))
		}},
		{"PUT /apis/apps/v1/namespaces/ns/deployments/n?dryRun=All", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(apps.Deployments, "ns").Replace(ctx, &appsv1.Deployment{ObjectMeta: n}, &kube.ReplaceOptions{DryRun: true}))
		}},
		{"PATCH /api/v1/namespaces/ns/pods/n?fieldValidation=Warn", merge, func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods.Metadata(), "ns").Patch(ctx, "n", kube.MergePatch([]byte(`{}`)), &kube.PatchOptions{FieldValidation: kube.FieldValidationWarn}))
		}},
		{"PATCH /apis/apps/v1/namespaces/ns/deployments/n/scale", merge, func(c *kube.Client) error {
			return drop(c.Namespaced(apps.Deployments, "ns").Scale().Patch(ctx, "n", kube.MergePatch([]byte(`{}`)), nil))
		}},
		{"POST /api/v1/namespaces/ns/pods/n/eviction?dryRun=All", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Sub(core.PodEviction).Create(ctx, "n", &policyv1.Eviction{ObjectMeta: n}, &kube.CreateOptions{DryRun: true}))
		}},
		{"POST /api/v1/namespaces/ns/serviceaccounts/n/token", proto, func(c *kube.Client) error {
			return drop(c.Namespaced(core.ServiceAccounts, "ns").Sub(core.ServiceAccountToken).Create(ctx, "n", &authenticationv1.TokenRequest{}, nil))
		}},
		{"PATCH /api/v1/namespaces/ns/pods/n/ephemeralcontainers", strategic, func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Sub(core.PodEphemeralContainers).Patch(ctx, "n", kube.StrategicPatch([]byte(`{}`)), nil))
		}},
		{"PATCH /api/v1/namespaces/ns/pods/n/resize", strategic, func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Sub(core.PodResize).Patch(ctx, "n", kube.StrategicPatch([]byte(`{}`)), nil))
		}},
		{"PATCH /apis/apps/v1/namespaces/ns/deployments/n", merge, func(c *kube.Client) error {
			return drop(c.Namespaced(apps.Deployments, "ns").Restart(ctx, "n"))
		}},
	} {
		method, uri, _ := strings.Cut(test.want, " ")
		t.Run(method+strings.ReplaceAll(uri, "/", " "), func(t *testing.T) {
			_, client := recording(t, "https://host")
			req, err := client.Build(test.call)
			if err != nil {
				t.Fatal(err)
			}
			path, query, _ := strings.Cut(uri, "?")
			want, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			if req.Method != method || req.URL.EscapedPath() != path {
				t.Errorf("%s %s", req.Method, req.URL)
			}
			if diff := cmp.Diff(want, req.URL.Query()); diff != "" {
				t.Errorf("query: %s", diff)
			}
			if got := req.Header.Get("Content-Type"); got != test.media {
				t.Errorf("Content-Type is %q, want %q", got, test.media)
			}
		})
	}
}

// TestDeleteBodies says what the options of a delete become.
func TestDeleteBodies(t *testing.T) {
	_, client := recording(t, "https://host")
	for _, test := range []struct {
		opts *kube.DeleteOptions
		want string
	}{
		{nil, ""},
		{&kube.DeleteOptions{}, `{"kind":"DeleteOptions","apiVersion":"v1"}`},
		{&kube.DeleteOptions{DryRun: true}, `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`},
		{&kube.DeleteOptions{Propagation: kube.PropagationBackground}, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`},
		{&kube.DeleteOptions{Propagation: kube.PropagationForeground}, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}`},
		{&kube.DeleteOptions{Propagation: kube.PropagationOrphan}, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"}`},
	} {
		req, err := client.Build(func(c *kube.Client) error { return c.Namespaced(core.Pods, "ns").Delete(t.Context(), "p", test.opts) })
		if err != nil {
			t.Fatal(err)
		}
		var body []byte
		if req.Body != nil {
			body, _ = io.ReadAll(req.Body)
		}
		if test.want == "" && len(body) != 0 || test.want != "" && !sameJSON(t, body, []byte(test.want)) {
			t.Errorf("%+v: %s, want %s", test.opts, body, test.want)
		}
	}
}

// TestEmptyNames are refused before anything is sent: the path would be that of the collection.
func TestEmptyNames(t *testing.T) {
	ctx := t.Context()
	for name, call := range map[string]func(kube.API[corev1.Pod]) error{
		"get":    func(a kube.API[corev1.Pod]) error { return drop(a.Get(ctx, "")) },
		"delete": func(a kube.API[corev1.Pod]) error { return a.Delete(ctx, "", nil) },
		"patch":  func(a kube.API[corev1.Pod]) error { return drop(a.Patch(ctx, "", kube.MergePatch([]byte(`{}`)), nil)) },
		"replace": func(a kube.API[corev1.Pod]) error {
			return drop(a.Replace(ctx, &corev1.Pod{}, nil))
		},
		"apply":       func(a kube.API[corev1.Pod]) error { return drop(a.Apply(ctx, &corev1.Pod{}, "me", nil)) },
		"subresource": func(a kube.API[corev1.Pod]) error { return drop(a.Status().Get(ctx, "")) },
	} {
		rec, client := recording(t, "https://host")
		if err := call(client.Namespaced(core.Pods, "ns")); err == nil || !strings.Contains(err.Error(), "name is empty") || rec.request != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rec, client := recording(t, "https://host")
	if err := drop(client.Namespaced(core.Pods.Metadata(), "ns").Get(ctx, "")); err == nil || rec.request != nil {
		t.Error("metadata:", err)
	}
}
