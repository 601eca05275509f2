package kube

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

const redacted = "[redacted]"

// String describes the configuration without its secrets: tokens, passwords and keys are only
// said to be there.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("kube.Config{")
	for i, a := range c.attributes() {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s:%v", a.Key, a.Value)
	}
	b.WriteString("}")
	return b.String()
}

// Format implements [fmt.Formatter], so that no verb shows a secret.
func (c Config) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", c.String())
		return
	}
	fmt.Fprint(f, c.String())
}

// LogValue implements [slog.LogValuer], with the content of [Config.String].
func (c Config) LogValue() slog.Value { return slog.GroupValue(c.attributes()...) }

// MarshalJSON fails: a configuration has functions, and secrets that do not belong in JSON.
func (c Config) MarshalJSON() ([]byte, error) {
	return nil, errors.New("kube: a Config cannot be written as JSON; see package kubeconfig")
}

// attributes lists what is set.
func (c Config) attributes() []slog.Attr {
	var list attributeList
	add, text, secret := list.add, list.text, list.secret // values: calls are not inlined two dozen times

	text("Server", redactURL(c.Server))
	text("Namespace", c.Namespace)
	add("CAData", len(c.CAData) > 0, fmt.Sprintf("[%d bytes]", len(c.CAData)))
	text("CAFile", c.CAFile)
	add("CertData", len(c.CertData) > 0, fmt.Sprintf("[%d bytes]", len(c.CertData)))
	text("CertFile", c.CertFile)
	secret("KeyData", len(c.KeyData) > 0)
	text("KeyFile", c.KeyFile)
	text("ServerName", c.ServerName)
	add("Insecure", c.Insecure, true)
	secret("BearerToken", c.BearerToken != "")
	text("BearerTokenFile", c.BearerTokenFile)
	text("Username", c.Username)
	secret("Password", c.Password != "")
	add("Credentials", c.Credentials != nil, "set")
	text("ImpersonateUser", c.Impersonate.User)
	add("ImpersonateGroups", len(c.Impersonate.Groups) > 0, c.Impersonate.Groups)
	text("ProxyURL", redactURL(c.ProxyURL))
	add("DisableCompression", c.DisableCompression, true)
	text("UserAgent", c.UserAgent)
	add("Timeout", c.Timeout != 0, c.Timeout)
	add("MaxRetries", c.MaxRetries != 0, c.MaxRetries)
	add("DisableRetry", c.DisableRetry, true)
	add("Wrap", len(c.Wrap) > 0, len(c.Wrap))
	add("Transport", c.Transport != nil, fmt.Sprintf("%T", c.Transport))
	add("Dial", c.Dial != nil, "set")
	if c.Protocols != nil {
		text("Protocols", c.Protocols.String())
	}
	return list
}

// attributeList collects what is set.
type attributeList []slog.Attr

func (l *attributeList) add(key string, set bool, value any) {
	if set {
		*l = append(*l, slog.Any(key, value))
	}
}

func (l *attributeList) text(key, value string) { l.add(key, value != "", value) }

func (l *attributeList) secret(key string, set bool) { l.add(key, set, redacted) }

// redactURL hides the password in an address, also in one that does not parse.
func redactURL(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return u.Redacted()
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return redacted + s[i:]
	}
	return s
}

// unwrapURLError leaves the address out of an error of package url: it may hold a password,
// and the caller names it anyway.
func unwrapURLError(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
