package kubetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The life of tokens that ask for none, and the bounds of it, in seconds.
const (
	tokenLife    = 60 * 60
	minTokenLife = 10 * 60
	maxTokenLife = 1 << 32
)

const tokenIssuer = "https://kubernetes.default.svc.cluster.local"

var tokenRequestKind = schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}

// createToken makes a token of a service account. It has the form and the claims of a real
// one; its signature is no one's.
func createToken(w http.ResponseWriter, rq *request) error {
	t := &authenticationv1.TokenRequest{}
	if err := rq.readSubresource(t); err != nil {
		return err
	}
	live := rq.kind.table.get(key{rq.namespace, rq.name})
	if live == nil {
		return rq.notFound(rq.name)
	}
	account := rq.kind.convert(live).(*corev1.ServiceAccount)
	if err := completeToken(t, account); err != nil {
		return err
	}
	if err := rq.checkBoundObject(t.Spec.BoundObjectRef); err != nil {
		return err
	}
	now := time.Now()
	t.CreationTimestamp = metav1.NewTime(now)
	end := now.Add(time.Duration(*t.Spec.ExpirationSeconds) * time.Second)
	token, err := signedToken(t, account, now, end)
	if err != nil {
		return err
	}
	t.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(end)}
	return rq.respondBody(w, http.StatusCreated, t, rq.kind.subresources["token"].body.GroupVersionKind())
}

// checkBoundObject looks for the object that a token shall live as long as.
func (rq *request) checkBoundObject(ref *authenticationv1.BoundObjectReference) error {
	if ref == nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	k := rq.server.kinds.catalog().byKind[gvk]
	if k == nil || gvk.Group != "" || gvk.Kind != "Pod" && gvk.Kind != "Secret" && gvk.Kind != "Node" {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk))
	}
	place := key{rq.namespace, ref.Name}
	if !k.namespaced() {
		place.namespace = ""
	}
	o := k.table.get(place)
	if o == nil {
		return apierrors.NewNotFound(k.GroupResource(), ref.Name)
	}
	if pod, ok := o.content.(*corev1.Pod); ok && pod.Spec.ServiceAccountName != rq.name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", rq.name))
	}
	if ref.UID != "" && ref.UID != o.meta.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}

// completeToken fills in and checks what a token is asked for.
func completeToken(t *authenticationv1.TokenRequest, account *corev1.ServiceAccount) error {
	invalid := func(path *field.Path, value any, text string) error {
		return apierrors.NewInvalid(tokenRequestKind, account.Name, field.ErrorList{field.Invalid(path, value, text)})
	}
	switch {
	case t.Name != "" && t.Name != account.Name:
		return invalid(field.NewPath("metadata", "name"), t.Name, "must match the service account name if specified")
	case t.Namespace != "" && t.Namespace != account.Namespace:
		return invalid(field.NewPath("metadata", "namespace"), t.Namespace, "must match the service account namespace if specified")
	case t.UID != "" && t.UID != account.UID:
		return apierrors.NewConflict(schema.GroupResource{Group: tokenRequestKind.Group, Resource: tokenRequestKind.Kind}, account.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", t.UID, account.UID))
	}
	t.Name, t.Namespace, t.UID = account.Name, account.Namespace, account.UID
	if len(t.Spec.Audiences) == 0 {
		t.Spec.Audiences = []string{tokenIssuer}
	}
	if t.Spec.ExpirationSeconds == nil {
		t.Spec.ExpirationSeconds = new(int64(tokenLife))
	}
	path := field.NewPath("spec", "expirationSeconds")
	switch seconds := *t.Spec.ExpirationSeconds; {
	case seconds < minTokenLife:
		return apierrors.NewInvalid(tokenRequestKind, "", field.ErrorList{field.Invalid(path, seconds, "may not specify a duration less than 10 minutes")})
	case seconds > maxTokenLife:
		return apierrors.NewInvalid(tokenRequestKind, "", field.ErrorList{field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")})
	}
	return nil
}

func signedToken(t *authenticationv1.TokenRequest, account *corev1.ServiceAccount, now, end time.Time) (string, error) {
	kubernetes := map[string]any{
		"namespace":      account.Namespace,
		"serviceaccount": map[string]any{"name": account.Name, "uid": string(account.UID)},
	}
	if ref := t.Spec.BoundObjectRef; ref != nil {
		kubernetes[lowerFirst(ref.Kind)] = map[string]any{"name": ref.Name, "uid": string(ref.UID)}
	}
	claims := map[string]any{
		"aud": t.Spec.Audiences, "exp": end.Unix(), "iat": now.Unix(), "nbf": now.Unix(), "iss": tokenIssuer, "jti": string(uuid.NewUUID()),
		"sub":           "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		"kubernetes.io": kubernetes,
	}
	payload, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(payload)
	return text + "." + encode(signature(text)), nil
}

func signature(text string) []byte {
	mac := hmac.New(sha256.New, []byte("kubetest"))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// accountOf returns the service account that a token of this server is for, if the token is
// one, has not expired, and the account still exists.
func (s *Server) accountOf(token string) (authenticationv1.UserInfo, bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return authenticationv1.UserInfo{}, false
	}
	sum, err := base64.RawURLEncoding.DecodeString(token[i+1:])
	if err != nil || !hmac.Equal(sum, signature(token[:i])) {
		return authenticationv1.UserInfo{}, false
	}
	_, payload, _ := strings.Cut(token[:i], ".")
	data, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return authenticationv1.UserInfo{}, false
	}
	var claims struct {
		Exp        int64  `json:"exp"`
		ID         string `json:"jti"`
		Kubernetes struct {
			Namespace      string `json:"namespace"`
			ServiceAccount struct {
				Name string    `json:"name"`
				UID  types.UID `json:"uid"`
			} `json:"serviceaccount"`
		} `json:"kubernetes.io"`
	}
	if err := json.Unmarshal(data, &claims); err != nil || time.Now().Unix() > claims.Exp {
		return authenticationv1.UserInfo{}, false
	}
	namespace, account := claims.Kubernetes.Namespace, claims.Kubernetes.ServiceAccount
	k := s.kinds.catalog().byKind[corev1.SchemeGroupVersion.WithKind("ServiceAccount")]
	live := k.table.get(key{namespace, account.Name})
	return authenticationv1.UserInfo{
		Username: "system:serviceaccount:" + namespace + ":" + account.Name,
		UID:      string(account.UID),
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		Extra:    map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/credential-id": {"JTI=" + claims.ID}},
	}, live != nil && live.meta.GetUID() == account.UID
}

// prepareApproval takes all but the conditions of approval from old.
func prepareApproval(_ *request, obj, old runtime.Object) {
	csr, was := obj.(*certificatesv1.CertificateSigningRequest), old.DeepCopyObject().(*certificatesv1.CertificateSigningRequest)
	conditions := csr.Status.Conditions
	for i := range conditions {
		now := metav1.NewTime(time.Now())
		if conditions[i].LastUpdateTime.IsZero() {
			conditions[i].LastUpdateTime = now
		}
		if conditions[i].LastTransitionTime.IsZero() {
			conditions[i].LastTransitionTime = now
		}
	}
	csr.Spec, csr.Status = was.Spec, was.Status
	csr.Status.Conditions = conditions
}

// prepareFinalize takes all but the finalizers of a namespace from old.
func prepareFinalize(_ *request, obj, old runtime.Object) {
	ns, was := obj.(*corev1.Namespace), old.DeepCopyObject().(*corev1.Namespace)
	ns.Status = was.Status
}
