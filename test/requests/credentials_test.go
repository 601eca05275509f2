package requests_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/csr"
	"github.com/go-kube/kube/k8s/authentication"
	"github.com/go-kube/kube/k8s/certificates"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/tokens"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTokenRequest asks for tokens of a service account, and uses them.
func TestTokenRequest(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	client, ns := w.admin(t), w.NewNamespace(t)
	must[*corev1.ServiceAccount](t)(client.Namespaced(core.ServiceAccounts, ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, nil))
	robot := "system:serviceaccount:" + ns + ":robot"
	use := func(token *tokens.Token) (authenticationv1.UserInfo, error) {
		return whoAmI(ctx, newClient(t, &kube.Config{Server: w.URL(), CAData: w.CA(), BearerToken: token.Value}))
	}

	token := must[*tokens.Token](t)(tokens.Request(ctx, client, ns, "robot", &tokens.Options{Lifetime: 20 * time.Minute}))
	if user, err := use(token); err != nil || user.Username != robot {
		t.Errorf("the token is %q's, want %s's; %v", user.Username, robot, err)
	}
	if left := time.Until(token.Expires); left < 15*time.Minute || left > 25*time.Minute {
		t.Errorf("the token ends in %s, want 20 minutes", left)
	}
	if len(token.Audiences) == 0 {
		t.Error("the token does not say whom it is for")
	}

	foreign := must[*tokens.Token](t)(tokens.Request(ctx, client, ns, "robot", &tokens.Options{Audiences: []string{"vault"}}))
	if _, err := use(foreign); !errors.Is(err, kube.ErrUnauthorized) {
		t.Errorf("a token for somebody else: %v", err)
	}
	review := must[*authenticationv1.TokenReview](t)(client.All(authentication.TokenReviews).Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: foreign.Value, Audiences: []string{"vault", "bank"}}}, nil))
	if got := review.Status; !got.Authenticated || got.User.Username != robot || fmt.Sprint(got.Audiences) != "[vault]" {
		t.Errorf("the review of it: %+v", got)
	}
}

// TestBoundToken has a token end with the object that it is bound to.
func TestBoundToken(t *testing.T) {
	t.Parallel() // it waits
	w := connect(t)
	ctx := t.Context()
	client, ns := w.admin(t), w.NewNamespace(t)
	must[*corev1.ServiceAccount](t)(client.Namespaced(core.ServiceAccounts, ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, nil))
	secrets := client.Namespaced(core.Secrets, ns)
	must[*corev1.Secret](t)(secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "lease"}}, nil))
	bound := &tokens.Options{BoundTo: &tokens.Bound{APIVersion: "v1", Kind: "Secret", Name: "lease"}}
	token := must[*tokens.Token](t)(tokens.Request(ctx, client, ns, "robot", bound))
	holder := newClient(t, &kube.Config{Server: w.URL(), CAData: w.CA(), BearerToken: token.Value})
	must[authenticationv1.UserInfo](t)(whoAmI(ctx, holder))
	if err := secrets.Delete(ctx, "lease", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the token to end", func() bool { // the server remembers good tokens for some seconds
		_, err := whoAmI(ctx, holder)
		return errors.Is(err, kube.ErrUnauthorized)
	})
	if _, err := tokens.Request(ctx, client, ns, "robot", bound); err == nil || !strings.Contains(err.Error(), "lease") {
		t.Errorf("a token bound to what is gone: %v", err)
	}
	if _, err := tokens.Request(ctx, client, ns, "nobody", nil); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("a token of nobody: %v", err)
	}
}

// TestDecideAboutCertificates approves and denies, as somebody who may and as somebody who may not.
func TestDecideAboutCertificates(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	client := w.admin(t)
	api := client.All(certificates.CertificateSigningRequests)
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must[[]byte](t)(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "dev"}}, key))
	ask := func() string {
		return must[*certificatesv1.CertificateSigningRequest](t)(api.Create(ctx, &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "dev-"},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
				SignerName: "kubernetes.io/kube-apiserver-client",
				Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			},
		}, nil)).Name
	}
	good, bad := ask(), ask()
	for range 2 { // the second one changes nothing
		must[*certificatesv1.CertificateSigningRequest](t)(csr.Approve(ctx, client, good, "Known", "a member of the team"))
		must[*certificatesv1.CertificateSigningRequest](t)(csr.Deny(ctx, client, bad, "", ""))
	}
	for _, test := range []struct {
		name, reason, message string
		verdict               certificatesv1.RequestConditionType
	}{
		{good, "Known", "a member of the team", certificatesv1.CertificateApproved},
		{bad, "Denied", "", certificatesv1.CertificateDenied},
	} {
		got := must[*certificatesv1.CertificateSigningRequest](t)(api.Get(ctx, test.name)).Status.Conditions
		if len(got) != 1 || got[0].Type != test.verdict || got[0].Reason != test.reason || got[0].Message != test.message || got[0].Status != corev1.ConditionTrue || got[0].LastUpdateTime.IsZero() {
			t.Errorf("%s: conditions %+v", test.verdict, got)
		}
	}
	if _, err := csr.Approve(ctx, client, bad, "", ""); !errors.Is(err, csr.ErrDecided) {
		t.Errorf("approving what is denied: %v", err)
	}
	if _, err := csr.Deny(ctx, client, "none", "", ""); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("denying what is not there: %v", err)
	}
	if _, err := csr.Approve(ctx, newClient(t, w.user(t, "stranger")), ask(), "", ""); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("approved by a stranger: %v", err)
	}
}
