package requests_test

import (
	"context"
	"encoding/json/v2"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/admissionregistration"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/flowcontrol"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhook makes a handler one that is asked about each ConfigMap that is created in a namespace.
func (w world) webhook(t *testing.T, ns string, review func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var in admissionv1.AdmissionReview
		if err := json.UnmarshalRead(r.Body, &in); err != nil {
			t.Error(err)
			return
		}
		in.Response = review(in.Request)
		in.Response.UID, in.Request = in.Request.UID, nil
		answer(rw, 200, &in)
	}))
	t.Cleanup(server.Close)
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "test.example.org",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
			FailurePolicy:           &fail,
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	api := w.admin(t).All(admissionregistration.ValidatingWebhookConfigurations)
	if _, err := api.Create(t.Context(), hook, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Delete(context.WithoutCancel(t.Context()), ns, nil); err != nil {
			t.Error(err)
		}
	})
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestWebhookWarnings(t *testing.T) {
	w := connect(t)
	ns := w.NewNamespace(t)
	w.webhook(t, ns, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.Name == "bad" {
			return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "it is bad", Code: 418}, Warnings: []string{"refused"}}
		}
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{`say "hello"`, "second, ä"}}
	})
	cfg := w.user(t, "boss", "system:masters")
	var mu sync.Mutex
	var warnings []kube.Warning
	cfg.OnWarning = func(warning kube.Warning) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, warning)
	}
	api := newClient(t, cfg).Namespaced(core.ConfigMaps, ns)
	eventually(t, "the webhook to be asked", func() bool {
		if _, err := api.Create(t.Context(), configMap("good"), &kube.CreateOptions{DryRun: true}); err != nil {
			t.Fatal(err)
		}
		return len(warnings) > 0
	})
	if len(warnings) != 2 || warnings[0].Text != `say "hello"` || warnings[1].Text != "second, ä" {
		t.Errorf("warnings %v", warnings)
	}
	if r := warnings[0].Request; r.Verb != "create" || r.Resource != "configmaps" || r.Namespace != ns {
		t.Errorf("the warning is about %+v", r)
	}
	warnings = nil
	_, err := api.Create(t.Context(), configMap("bad"), nil)
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Code != 418 || !strings.Contains(err.Error(), `admission webhook "test.example.org" denied the request: it is bad`) {
		t.Errorf("error %v, want the webhook's", err)
	}
	if len(warnings) != 1 || warnings[0].Text != "refused" {
		t.Errorf("warnings of a refusal: %v", warnings)
	}
}

// TestTooManyRequests: a server whose fair queuing is full says so, and is asked again.
func TestTooManyRequests(t *testing.T) {
	w := connect(t)
	ns := w.NewNamespace(t)
	user := "crowd-" + ns // the limit stays
	w.allow(t, user)
	w.limit(t, user)
	var at, most atomic.Int64
	w.webhook(t, ns, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		most.Store(max(most.Load(), at.Add(1)))
		defer at.Add(-1)
		<-time.After(50 * time.Millisecond) // what takes a seat for longer
		return &admissionv1.AdmissionResponse{Allowed: true}
	})
	cfg := w.user(t, user)
	var refused atomic.Int64
	cfg.OnRetry = func(r kube.RetryInfo) {
		if r.Status != http.StatusTooManyRequests || r.Delay < time.Second {
			t.Errorf("repeated: %+v, want a 429 and the second that the server asks for", r)
		}
		refused.Add(1)
	}
	patient := newClient(t, cfg).Namespaced(core.ConfigMaps, ns)
	hasty := cfg.Clone()
	hasty.DisableRetry, hasty.OnRetry = true, nil
	once := newClient(t, hasty).Namespaced(core.ConfigMaps, ns)

	var failure error
	eventually(t, "the limit", func() bool {
		for _, err := range crowd(func(i int) error {
			_, err := once.Create(t.Context(), configMap(fmt.Sprint("hasty-", i)), &kube.CreateOptions{DryRun: true})
			return err
		}) {
			if err != nil {
				failure = err
			}
		}
		return failure != nil
	})
	if after, ok := kube.RetryAfter(failure); !ok || after < time.Second || !apierrors.IsTooManyRequests(failure) || !kube.CanRetry(failure) {
		t.Errorf("error %v, to be repeated after %v, %v", failure, after, ok)
	}
	for _, err := range crowd(func(i int) error {
		_, err := patient.Create(t.Context(), configMap(fmt.Sprint("patient-", i)), nil)
		return err
	}) {
		if err != nil {
			t.Errorf("with retries: %v", err)
		}
	}
	if refused.Load() == 0 {
		t.Error("nothing was refused, so nothing was shown")
	}
	t.Logf("%d answers 429; the webhook was asked %d times at once at most", refused.Load(), most.Load())
}

// crowd calls f from many goroutines at once.
func crowd(f func(int) error) []error {
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errs
}

// limit lets a user make few requests at once, and refuses what is beyond.
func (w world) limit(t *testing.T, user string) {
	t.Helper()
	one, zero := int32(1), int32(0)
	level := &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: &one, LendablePercent: &zero, BorrowingLimitPercent: &zero,
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}
	schema := &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: user},
			MatchingPrecedence:         10,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: user}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}, ClusterScope: true,
				}},
			}},
		},
	}
	client := w.admin(t)
	if _, err := client.All(flowcontrol.PriorityLevelConfigurations).Create(t.Context(), level, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := client.All(flowcontrol.FlowSchemas).Create(t.Context(), schema, nil); err != nil {
		t.Fatal(err)
	}
}
