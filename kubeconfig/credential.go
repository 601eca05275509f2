package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Credential is what a [CredentialFunc] hands out: a bearer token, a client certificate with its
// key, or all of them. It never changes. Printing one shows no secrets.
type Credential struct {
	// Token is sent as bearer token.
	Token Secret
	// Certificate (PEM, leaf first) and Key (PEM) are the client certificate.
	Certificate Data
	Key         Data
	// Expires is when the credential ends. Zero means that it is good until the server refuses
	// it.
	Expires time.Time
	// Warning is what went wrong beside, such as a refreshed token that could not be written back:
	// the next program may have to log in again. Clients log it. Nil is all well.
	Warning error
}

// String says what there is.
func (c *Credential) String() string {
	expires := ""
	if !c.Expires.IsZero() {
		expires = c.Expires.Format(time.RFC3339)
	}
	return "Credential" + printed(texts(
		"token", c.Token.String(),
		"certificate", c.Certificate.String(),
		"key", c.Key.String(),
		"expires", expires,
	))
}

// CredentialFunc hands out credentials. rejected is the one to replace, because it is about to
// expire or because the server refused it; nil asks for any that is good.
//
// It is safe for concurrent use, and ctx bounds it.
type CredentialFunc func(ctx context.Context, rejected *Credential) (*Credential, error)

// CredentialOptions are for [Resolved.Credentials].
type CredentialOptions struct {
	// Stdin is where an interactive program reads from; nil is [os.Stdin].
	Stdin *os.File
	// Stderr is where programs write to the user; nil is [os.Stderr].
	Stderr io.Writer
	// StdinUnavailable says that the program uses the standard input itself, such as for a
	// manifest that is piped in: exec plugins get none of it then.
	StdinUnavailable bool
}

// Credentials returns where the credentials of r's user come from, if it has an exec plugin or an
// auth-provider; nil if what it has are fixed values and files. What can be wrong in the
// settings is an error here, before a program is run.
//
// All users of one function share its credential: a program runs once for as long as its
// credential is good, however many clients there are.
func (r *Resolved) Credentials(opts *CredentialOptions) (CredentialFunc, error) {
	o := CredentialOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	fetch, err := r.source(o)
	if fetch == nil || err != nil {
		return nil, err
	}
	return (&shared{fetch: fetch, turn: make(chan struct{}, 1)}).get, nil
}

func (r *Resolved) source(o CredentialOptions) (CredentialFunc, error) {
	switch exec, provider := r.User.Exec, r.User.AuthProvider; {
	case exec != nil && provider != nil:
		return nil, errors.New("has both an exec plugin and an auth-provider; remove one")
	case exec != nil:
		return newPlugin(exec, r, o)
	case provider != nil:
		return newProvider(provider, r, o)
	}
	return nil, nil
}

func newProvider(p *AuthProvider, r *Resolved, o CredentialOptions) (CredentialFunc, error) {
	switch p.Name {
	case "oidc":
		return newOIDC(p, r)
	case "gcp", "azure":
		return newCommandProvider(p, o)
	}
	return nil, fmt.Errorf("auth-provider %q is unknown; oidc, gcp and azure are known, and everything else is an exec plugin today", p.Name)
}

// shared keeps a credential for as long as it is good.
type shared struct {
	fetch   CredentialFunc
	turn    chan struct{} // holds a token while somebody fetches; guards current
	current *Credential
}

func (s *shared) get(ctx context.Context, rejected *Credential) (*Credential, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.turn }()
	if c := s.current; c != nil && c != rejected && (c.Expires.IsZero() || time.Now().Before(c.Expires)) {
		return c, nil
	}
	c, err := s.fetch(ctx, s.current)
	if err != nil {
		return nil, err
	}
	s.current = c
	return c, nil
}

// checkedCredential refuses what could not be sent.
func checkedCredential(c *Credential) (*Credential, error) {
	c.Token = Secret(strings.TrimSpace(string(c.Token)))
	switch {
	case c.Token == "" && len(c.Certificate) == 0 && len(c.Key) == 0:
		return nil, errors.New("neither a token nor a client certificate is in its answer")
	case (len(c.Certificate) == 0) != (len(c.Key) == 0):
		return nil, errors.New("of a client certificate and its key, only one is in its answer")
	}
	return c, nil
}
