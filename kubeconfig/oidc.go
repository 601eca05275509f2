package kubeconfig

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// oidcMargin is how much life an ID token needs to be used.
	oidcMargin = 10 * time.Second
	// oidcTimeout bounds each request to the identity provider.
	oidcTimeout = 30 * time.Second
	oidcAnswer  = 1 << 20
)

// oidc is the auth-provider of that name: an ID token as bearer token, and a refresh token that
// the identity provider exchanges for another one. See
// https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokens
type oidc struct {
	issuer, clientID, clientSecret string
	transport                      http.RoundTripper
	keep                           func(idToken, refreshToken string) error
	kept                           func() (idToken, refreshToken string)

	// Used by one caller at a time, see shared.
	idToken, refreshToken string
	inFile                string // the refresh token of the kubeconfig, when it was last seen or written
	endpoint              string // of tokens; found out with the first refresh
	inBody                bool   // the client is named in the body
}

func newOIDC(p *AuthProvider, r *Resolved) (CredentialFunc, error) {
	c := &oidc{
		issuer:       strings.TrimRight(setting(p, "idp-issuer-url"), "/"),
		clientID:     setting(p, "client-id"),
		clientSecret: setting(p, "client-secret"),
		idToken:      setting(p, "id-token"),
		refreshToken: setting(p, "refresh-token"),
		keep:         func(string, string) error { return nil },
		kept:         func() (string, string) { return "", "" },
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("auth-provider oidc: %w", err)
	}
	c.inFile = c.refreshToken
	c.inBody = c.clientSecret == "" // a public client names itself, and has nothing to prove it with
	transport, err := oidcTransport(p)
	if err != nil {
		return nil, fmt.Errorf("auth-provider oidc: %w", err)
	}
	c.transport = transport
	if r.UserOrigin != "" {
		c.keep = func(idToken, refreshToken string) error {
			return storeTokens(r.UserOrigin, r.UserName, idToken, refreshToken)
		}
		c.kept = func() (string, string) { return storedTokens(r.UserOrigin, r.UserName) }
	}
	return c.fetch, nil
}

func (c *oidc) check() error {
	switch {
	case c.idToken == "" && c.refreshToken == "":
		return errors.New("has neither an id-token nor a refresh-token; log in at the identity provider")
	case c.refreshToken == "":
		return nil
	case c.issuer == "":
		return errors.New("has a refresh-token, and no idp-issuer-url to use it at")
	case c.clientID == "":
		return errors.New("has a refresh-token, and no client-id to use it with")
	}
	u, err := url.Parse(c.issuer)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("idp-issuer-url %q is not an https address", c.issuer)
	}
	return nil
}

// oidcTransport trusts the authorities of the settings, else the system's.
func oidcTransport(p *AuthProvider) (*http.Transport, error) {
	pem, source := []byte(nil), "idp-certificate-authority-data"
	if text := setting(p, source); text != "" {
		var err error
		if pem, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errors.New("idp-certificate-authority-data is not base64")
		}
	} else if path := setting(p, "idp-certificate-authority"); path != "" {
		source = "idp-certificate-authority"
		var err error
		if pem, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("idp-certificate-authority: %w", err)
		}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	if pem != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New(source + " holds no PEM certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return transport, nil
}

func (c *oidc) fetch(ctx context.Context, previous *Credential) (*Credential, error) {
	c.adopt()
	if c.idToken != "" && (previous == nil || c.idToken != string(previous.Token)) {
		expires, err := expiryOfJWT(c.idToken)
		if err == nil && time.Until(expires) > oidcMargin {
			return &Credential{Token: Secret(c.idToken), Expires: expires}, nil
		}
		if c.refreshToken == "" && err != nil {
			return nil, fmt.Errorf("auth-provider oidc: id-token: %w", err)
		}
	}
	if c.refreshToken == "" {
		return nil, errors.New("auth-provider oidc: the id-token has ended, and there is no refresh-token; log in at the identity provider again")
	}
	cred, err := c.refresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("auth-provider oidc: refreshing at %s: %w", c.issuer, err)
	}
	return cred, nil
}

// adopt takes the tokens of the kubeconfig, if another program, such as kubectl, has put new ones there:
// with providers that rotate them, the refresh token that was read here is of no use then.
// Where nothing can be written back, what is there stays as it was, and is older than what is here.
func (c *oidc) adopt() {
	if idToken, refreshToken := c.kept(); refreshToken != "" && refreshToken != c.inFile {
		c.idToken, c.refreshToken, c.inFile = idToken, refreshToken, refreshToken
	}
}

func (c *oidc) refresh(ctx context.Context) (*Credential, error) {
	if err := c.discover(ctx); err != nil {
		return nil, err
	}
	answer, err := c.exchange(ctx)
	if err != nil {
		return nil, err
	}
	if answer.IDToken == "" {
		return nil, errors.New("the identity provider sent no id_token; it has to be asked for with the scope openid when logging in")
	}
	expires, err := expiryOfJWT(answer.IDToken)
	if err != nil {
		return nil, fmt.Errorf("the identity provider's id_token: %w", err)
	}
	c.idToken = answer.IDToken
	if answer.RefreshToken != "" {
		c.refreshToken = answer.RefreshToken
	}
	refreshed := &Credential{Token: Secret(c.idToken), Expires: expires}
	if err := c.keep(c.idToken, c.refreshToken); err != nil {
		refreshed.Warning = fmt.Errorf("refreshed tokens could not be written back: %w", err)
	} else {
		c.inFile = c.refreshToken
	}
	return refreshed, nil
}

func (c *oidc) discover(ctx context.Context) error {
	if c.endpoint != "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, "GET", c.issuer+"/.well-known/openid-configuration", nil)
	if err != nil {
		return err
	}
	var answer struct {
		TokenEndpoint string `json:"token_endpoint"`
	}
	if err := c.do(req, &answer); err != nil {
		return err
	}
	u, err := url.Parse(answer.TokenEndpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("its token_endpoint %q is not an https address", answer.TokenEndpoint)
	}
	c.endpoint = answer.TokenEndpoint
	return nil
}

type tokenAnswer struct {
	IDToken      string `json:"id_token"`
	RefreshToken string `json:"refresh_token"`
}

// exchange sends the client's secret as RFC 6749 (2.3.1) prefers, then in the body, which some
// providers want, and remembers what worked. A client without a secret is named in the body (3.2.1).
func (c *oidc) exchange(ctx context.Context) (*tokenAnswer, error) {
	answer, err := c.post(ctx, c.inBody)
	if refused := (*refusal)(nil); err != nil && !c.inBody && errors.As(err, &refused) && refused.code/100 == 4 && !refused.ofGrant() {
		second, secondErr := c.post(ctx, true)
		if secondErr != nil {
			return nil, secondErr
		}
		c.inBody = true
		return second, nil
	}
	return answer, err
}

func (c *oidc) post(ctx context.Context, inBody bool) (*tokenAnswer, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.refreshToken}}
	if inBody {
		form.Set("client_id", c.clientID)
		if c.clientSecret != "" {
			form.Set("client_secret", c.clientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, "POST", c.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !inBody {
		req.SetBasicAuth(url.QueryEscape(c.clientID), url.QueryEscape(c.clientSecret))
	}
	answer := &tokenAnswer{}
	return answer, c.do(req, answer)
}

// refusal is an answer of an identity provider that is no success.
type refusal struct {
	code   int
	status string
	reason string
}

// ofGrant reports whether the refresh token is refused, and the client was accepted (RFC 6749, 5.2).
func (r *refusal) ofGrant() bool { return strings.HasPrefix(r.reason, "invalid_grant") }

func (r *refusal) Error() string {
	if r.reason == "" {
		return "the identity provider answered " + r.status
	}
	hint := ""
	if r.ofGrant() {
		hint = "; the refresh-token has ended or was used up, and a new one comes with logging in again"
	}
	return fmt.Sprintf("the identity provider answered %s: %s%s", r.status, r.reason, hint)
}

func (c *oidc) do(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	ctx, cancel := context.WithTimeout(req.Context(), oidcTimeout)
	defer cancel()
	// A transport follows no redirects, and a refresh token should not follow them either.
	resp, err := c.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, oidcAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		var problem struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		json.Unmarshal(body, &problem) // what is not JSON says nothing more
		return &refusal{resp.StatusCode, resp.Status, strings.Trim(problem.Error+": "+problem.Description, ": ")}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the answer of %s is not as expected", req.URL.Path)
	}
	return nil
}

// expiryOfJWT reads the time of a token's end without checking its signature: that is the
// server's to do.
func expiryOfJWT(token string) (time.Time, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, fmt.Errorf("it is not a JWT: %d parts between dots, want 3", len(parts))
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, errors.New("it is not a JWT: the middle part is not base64")
	}
	var c struct {
		Exp *float64 `json:"exp"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(claims), &c); err != nil {
		return time.Time{}, errors.New("it is not a JWT: the middle part is not a JSON object with a number exp")
	}
	if c.Exp == nil {
		return time.Time{}, errors.New("it says no time of its end (claim exp)")
	}
	return time.Unix(int64(*c.Exp), 0), nil
}
