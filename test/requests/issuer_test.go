package requests_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/v2"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"
)

const (
	issuerClient = "kube-test"
	issuerUser   = "oidc-user"
)

// issuer is an identity provider that speaks OpenID Connect: discovery, keys, refreshes.
type issuer struct {
	server    *httptest.Server
	key       *rsa.PrivateKey
	caFile    string
	refreshes atomic.Int64
}

func newIssuer() (*issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	i := &issuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /token", i.token)
	i.server = httptest.NewTLSServer(mux)
	f, err := os.CreateTemp("", "kube-test-issuer-*.crt")
	if err != nil {
		return nil, err
	}
	i.caFile = f.Name()
	_, err = f.Write(i.caPEM())
	return i, errors.Join(err, f.Close())
}

func (i *issuer) Close() error {
	i.server.Close()
	return os.Remove(i.caFile)
}

func (i *issuer) caPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})
}

// flags make kube-apiserver trust the issuer.
func (i *issuer) flags() []string {
	return []string{
		"--oidc-issuer-url=" + i.server.URL, "--oidc-client-id=" + issuerClient, "--oidc-ca-file=" + i.caFile,
		"--oidc-username-claim=sub", "--oidc-username-prefix=-", "--oidc-groups-claim=groups",
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.MarshalWrite(w, body)
}

func (i *issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]any{
		"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys", "token_endpoint": i.server.URL + "/token",
		"authorization_endpoint": i.server.URL + "/authorize", "response_types_supported": []string{"id_token"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "key",
		"n": base64.RawURLEncoding.EncodeToString(i.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// token takes each refresh token once, as providers do that rotate them.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	n := i.refreshes.Load()
	if r.FormValue("grant_type") != "refresh_token" || r.FormValue("refresh_token") != fmt.Sprintf("refresh-%d", n) || !i.refreshes.CompareAndSwap(n, n+1) {
		answer(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	id, err := i.sign(4 * time.Second)
	if err != nil {
		answer(w, 500, map[string]any{"error": err.Error()})
		return
	}
	answer(w, 200, map[string]any{
		"access_token": "unused", "token_type": "Bearer", "expires_in": 4,
		"id_token": id, "refresh_token": fmt.Sprintf("refresh-%d", n+1),
	})
}

// sign returns an id token that is good for a while.
func (i *issuer) sign(lifetime time.Duration) (string, error) {
	now := time.Now()
	var parts [2]string
	for j, part := range []any{
		map[string]any{"alg": "RS256", "kid": "key", "typ": "JWT"},
		map[string]any{
			"iss": i.server.URL, "aud": issuerClient, "sub": issuerUser, "groups": []string{"oidc-group"},
			"iat": now.Unix(), "exp": now.Add(lifetime).Unix(), "jti": rand.Text(),
		},
	} {
		data, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		parts[j] = base64.RawURLEncoding.EncodeToString(data)
	}
	text := parts[0] + "." + parts[1]
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}
