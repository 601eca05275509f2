package tokens

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shortest is the shortest lifetime that API servers grant.
const shortest = 10 * time.Minute

// Options are for [Request]. The zero value asks for the API server's own audience and the
// lifetime that it chooses.
type Options struct {
	// Audiences are whom the token is for: everybody else has to refuse it. Nil is the API server.
	Audiences []string
	// Lifetime is how long the token is wanted to be good: 10 minutes at least, in whole seconds.
	// The server may give less or more. Zero leaves it to the server, which gives an hour.
	Lifetime time.Duration
	// BoundTo is an object with whose end the token ends too. Nil is none.
	BoundTo *Bound
}

// Bound names the object that a token is bound to: a Pod or a Secret of the account's namespace,
// or a Node.
type Bound struct {
	APIVersion, Kind, Name string
	// UID is the object's. Empty is that of the object that has the name now.
	UID types.UID
}

// Token is a token of a service account.
type Token struct {
	// Value is the secret itself, which [kube.Config.BearerToken] takes.
	Value string
	// Expires is when it ends.
	Expires time.Time
	// Audiences are whom it is for.
	Audiences []string
}

// String says until when the token is good, and not what it is.
func (t Token) String() string {
	return "Token{[redacted] until " + t.Expires.UTC().Format(time.RFC3339) + "}"
}

// Format implements [fmt.Formatter] for every verb, with [Token.String].
func (t Token) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", t.String())
		return
	}
	io.WriteString(f, t.String())
}

// LogValue implements [slog.LogValuer].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Request asks for a token of the service account called name. Each call gives another one; the
// server keeps none. It fails with [kube.ErrNotFound] where there is no such account.
// See https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
func Request(ctx context.Context, client *kube.Client, namespace, name string, opts *Options) (*Token, error) {
	body, err := opts.body()
	if err != nil {
		return nil, fmt.Errorf("tokens: a token of %s/%s: %w", namespace, name, err)
	}
	answer, err := client.Namespaced(core.ServiceAccounts, namespace).Sub(core.ServiceAccountToken).Create(ctx, name, body, nil)
	if err != nil {
		return nil, err
	}
	return &Token{Value: answer.Status.Token, Expires: answer.Status.ExpirationTimestamp.Time, Audiences: answer.Spec.Audiences}, nil
}

func (o *Options) body() (*authenticationv1.TokenRequest, error) {
	body := &authenticationv1.TokenRequest{}
	if o == nil {
		return body, nil
	}
	switch {
	case o.Lifetime != 0 && o.Lifetime < shortest:
		return nil, fmt.Errorf("Options.Lifetime is %s; the shortest is %s, and zero leaves it to the server", o.Lifetime, shortest)
	case o.Lifetime%time.Second != 0:
		return nil, fmt.Errorf("Options.Lifetime is %s, and Kubernetes counts whole seconds", o.Lifetime)
	case slices.Contains(o.Audiences, ""):
		return nil, fmt.Errorf("Options.Audiences %q has an entry that is empty", o.Audiences)
	}
	body.Spec.Audiences = slices.Clone(o.Audiences)
	if o.Lifetime != 0 {
		body.Spec.ExpirationSeconds = new(int64(o.Lifetime / time.Second))
	}
	if b := o.BoundTo; b != nil {
		if b.Kind == "" || b.APIVersion == "" || b.Name == "" {
			return nil, fmt.Errorf("Options.BoundTo needs APIVersion, Kind and Name; it is %q, %q, %q", b.APIVersion, b.Kind, b.Name)
		}
		body.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: b.APIVersion, Kind: b.Kind, Name: b.Name, UID: b.UID}
	}
	return body, nil
}
