package kubeconfig

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// commandProvider is what old kubeconfigs of GKE and AKS have: a token in the file, and a program
// that prints another one.
type commandProvider struct {
	name     string
	command  command
	tokenKey []string // where the token is in the output; none means that the output is the token
	expiry   []string
	first    *Credential // from the file; nil if there is none
}

func newCommandProvider(p *AuthProvider, o CredentialOptions) (CredentialFunc, error) {
	c := &commandProvider{name: p.Name}
	first, err := storedToken(p)
	if err != nil {
		return nil, fmt.Errorf("auth-provider %q: %w", p.Name, err)
	}
	c.first = first
	c.command = command{path: setting(p, "cmd-path"), stderr: o.Stderr}
	if c.command.path == "" && first == nil {
		return nil, fmt.Errorf("auth-provider %q has neither a token nor a cmd-path; use the exec plugin that took its place: %s", p.Name, successor(p.Name))
	}
	if c.command.args, err = splitArgs(setting(p, "cmd-args")); err != nil {
		return nil, fmt.Errorf("auth-provider %q: cmd-args: %w", p.Name, err)
	}
	for _, f := range []struct {
		key  string
		into *[]string
	}{{"token-key", &c.tokenKey}, {"expiry-key", &c.expiry}} {
		if *f.into, err = parsePath(setting(p, f.key)); err != nil {
			return nil, fmt.Errorf("auth-provider %q: %s: %w", p.Name, f.key, err)
		}
	}
	return c.fetch, nil
}

func setting(p *AuthProvider, key string) string { return strings.TrimSpace(string(p.Config[key])) }

func successor(provider string) string {
	if provider == "azure" {
		return "kubelogin convert-kubeconfig rewrites the kubeconfig (https://azure.github.io/kubelogin)"
	}
	return "install gke-gcloud-auth-plugin and run gcloud container clusters get-credentials (https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl)"
}

// storedToken returns the token that the file has: nil if there is none.
func storedToken(p *AuthProvider) (*Credential, error) {
	if token := setting(p, "id-token"); token != "" {
		return &Credential{Token: Secret(token)}, nil
	}
	c := &Credential{Token: Secret(setting(p, "access-token"))}
	if c.Token == "" {
		return nil, nil
	}
	if text := setting(p, "expiry"); text != "" {
		expires, err := parseExpiry(text)
		if err != nil {
			return nil, fmt.Errorf("expiry: %w", err)
		}
		c.Expires = expires
	}
	return c, nil
}

func parseExpiry(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2006-01-02T15:04:05Z", text)
}

// storedMargin is how much life a stored token needs to be used.
const storedMargin = time.Minute

func (c *commandProvider) fetch(ctx context.Context, previous *Credential) (*Credential, error) {
	if first := c.first; first != nil && previous == nil && (first.Expires.IsZero() || time.Until(first.Expires) > storedMargin) {
		return first, nil
	}
	if c.command.path == "" {
		return nil, fmt.Errorf("auth-provider %q: its token has ended, and there is no cmd-path to get another one; %s", c.name, successor(c.name))
	}
	out, err := c.command.output(ctx)
	if err == nil {
		var cred *Credential
		if cred, err = c.parse(out); err == nil {
			return cred, nil
		}
	}
	return nil, fmt.Errorf("auth-provider %q: program %q: %w", c.name, c.command.path, err)
}

func (c *commandProvider) parse(out []byte) (*Credential, error) {
	if len(c.tokenKey) == 0 {
		return checkedCredential(&Credential{Token: Secret(out)})
	}
	token, err := textAt(out, c.tokenKey)
	if err != nil {
		return nil, fmt.Errorf("token-key: %w", err)
	}
	cred := &Credential{Token: Secret(token)}
	if len(c.expiry) > 0 {
		text, err := textAt(out, c.expiry)
		if err == nil {
			cred.Expires, err = parseExpiry(text)
		}
		if err != nil {
			return nil, fmt.Errorf("expiry-key: %w", err)
		}
	}
	return checkedCredential(cred)
}

// parsePath reads the JSONPath of such settings: {.credential.access_token}, where braces,
// quotes and a dollar are optional.
func parsePath(text string) ([]string, error) {
	path := strings.Trim(strings.TrimSpace(text), `"'{}`)
	path = strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	if path == "" {
		return nil, nil
	}
	names := strings.Split(path, ".")
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, "[]*?@()'\"{}") {
			return nil, fmt.Errorf("%q is not a path of names such as {.credential.access_token}", text)
		}
	}
	return names, nil
}

// textAt returns the string at path within data.
func textAt(data []byte, path []string) (string, error) {
	value := jsontext.Value(data)
	for i, name := range path {
		var object map[string]jsontext.Value
		if err := json.Unmarshal(value, &object); err != nil {
			return "", errors.New("the output has no object at ." + strings.Join(path[:i], "."))
		}
		next, ok := object[name]
		if !ok {
			return "", errors.New("the output has nothing at ." + strings.Join(path[:i+1], "."))
		}
		value = next
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", errors.New("the output has no text at ." + strings.Join(path, "."))
	}
	return text, nil
}

// splitArgs splits at blanks, as a shell does: quotes keep blanks, and a backslash the next
// character where it stands outside of single quotes.
func splitArgs(text string) ([]string, error) {
	var args []string
	var word strings.Builder
	inWord, quote, escaped := false, rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			inWord, quote = true, r
		case quote == 0 && unicode.IsSpace(r):
			if inWord {
				args = append(args, word.String())
			}
			word.Reset()
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash is left open")
	}
	if inWord {
		args = append(args, word.String())
	}
	return args, nil
}
