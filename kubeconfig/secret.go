package kubeconfig

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// errUseEncode is what encoding/json gives for types that hold secrets: a log would show them,
// and a file without them would be broken.
var errUseEncode = errors.New("kubeconfig: this holds secrets and is not written as JSON by accident; use Config.Encode")

// Secret is text that printing and logging do not show. A conversion to string does.
type Secret string

// String returns a placeholder, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format implements [fmt.Formatter] for every verb.
func (s Secret) Format(f fmt.State, verb rune) { formatAs(f, verb, s.String()) }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON fails; see [Config.Encode].
func (s Secret) MarshalJSON() ([]byte, error) { return nil, errUseEncode }

// Data is PEM that stands in the file as base64. Printing it shows its size only.
type Data []byte

// String says how much there is.
func (d Data) String() string {
	if len(d) == 0 {
		return ""
	}
	return fmt.Sprintf("[%d bytes]", len(d))
}

// Format implements [fmt.Formatter] for every verb.
func (d Data) Format(f fmt.State, verb rune) { formatAs(f, verb, d.String()) }

// LogValue implements [slog.LogValuer].
func (d Data) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalJSON fails; see [Config.Encode].
func (d Data) MarshalJSON() ([]byte, error) { return nil, errUseEncode }

// UnmarshalJSON decodes base64. Line breaks and blanks within are skipped: they come from
// values that were wrapped by hand or by a template.
func (d *Data) UnmarshalJSON(value []byte) error {
	switch jsontext.Value(value).Kind() {
	case 'n':
		*d = nil
		return nil
	case '"':
	default:
		return &dataError{errors.New("has to be text")}
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return &dataError{err}
	}
	text = bytes.Join(bytes.Fields(text), nil)
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	if err != nil {
		return &dataError{fmt.Errorf("not base64: %w", err)}
	}
	*d = out[:n]
	return nil
}

// dataError is an error within a Data value; it does not show the value.
type dataError struct{ err error }

func (e *dataError) Error() string { return e.err.Error() }
func (e *dataError) Unwrap() error { return e.err }

// encodeSecrets are the marshalers by which [Config.Encode] writes what nothing else shows.
var encodeSecrets = json.JoinMarshalers(
	json.MarshalToFunc(func(enc *jsontext.Encoder, s Secret) error {
		return enc.WriteToken(jsontext.String(string(s)))
	}),
	json.MarshalToFunc(func(enc *jsontext.Encoder, d Data) error {
		return enc.WriteToken(jsontext.String(base64.StdEncoding.EncodeToString(d)))
	}),
	json.MarshalToFunc(func(enc *jsontext.Encoder, u User) error {
		type plain User
		return json.MarshalEncode(enc, plain(u))
	}),
	json.MarshalToFunc(func(enc *jsontext.Encoder, e Exec) error {
		type plain Exec
		return json.MarshalEncode(enc, plain(e))
	}),
	json.MarshalToFunc(func(enc *jsontext.Encoder, a AuthProvider) error {
		type plain AuthProvider
		return json.MarshalEncode(enc, plain(a))
	}),
)

// String lists what is set, without secrets.
func (u User) String() string { return "User" + printed(u.attributes()) }

// Format implements [fmt.Formatter] for every verb.
func (u User) Format(f fmt.State, verb rune) { formatAs(f, verb, u.String()) }

// LogValue implements [slog.LogValuer].
func (u User) LogValue() slog.Value { return slog.GroupValue(u.attributes()...) }

// MarshalJSON fails; see [Config.Encode].
func (u User) MarshalJSON() ([]byte, error) { return nil, errUseEncode }

func (u User) attributes() []slog.Attr {
	list := texts(
		"client-certificate", u.ClientCertificate,
		"client-certificate-data", u.ClientCertificateData.String(),
		"client-key", u.ClientKey,
		"client-key-data", u.ClientKeyData.String(),
		"token", u.Token.String(),
		"tokenFile", u.TokenFile,
		"as", u.Impersonate,
		"as-uid", u.ImpersonateUID,
		"as-groups", strings.Join(u.ImpersonateGroups, ","),
		"username", u.Username,
		"password", u.Password.String(),
	)
	if u.AuthProvider != nil {
		list = append(list, slog.Any("auth-provider", u.AuthProvider.LogValue()))
	}
	if u.Exec != nil {
		list = append(list, slog.Any("exec", u.Exec.LogValue()))
	}
	return append(list, texts("other", strings.Join(slices.Sorted(maps.Keys(u.Other)), ","))...)
}

// String names the provider and its settings, without their values.
func (a AuthProvider) String() string { return "AuthProvider" + printed(a.attributes()) }

// Format implements [fmt.Formatter] for every verb.
func (a AuthProvider) Format(f fmt.State, verb rune) { formatAs(f, verb, a.String()) }

// LogValue implements [slog.LogValuer].
func (a AuthProvider) LogValue() slog.Value { return slog.GroupValue(a.attributes()...) }

// MarshalJSON fails; see [Config.Encode].
func (a AuthProvider) MarshalJSON() ([]byte, error) { return nil, errUseEncode }

func (a AuthProvider) attributes() []slog.Attr {
	return append([]slog.Attr{slog.String("name", a.Name)}, texts("config", strings.Join(slices.Sorted(maps.Keys(a.Config)), ","))...)
}

// String names the program and its environment variables; arguments are counted only, since they
// may be secrets.
func (e Exec) String() string { return "Exec" + printed(e.attributes()) }

// Format implements [fmt.Formatter] for every verb.
func (e Exec) Format(f fmt.State, verb rune) { formatAs(f, verb, e.String()) }

// LogValue implements [slog.LogValuer].
func (e Exec) LogValue() slog.Value { return slog.GroupValue(e.attributes()...) }

// MarshalJSON fails; see [Config.Encode].
func (e Exec) MarshalJSON() ([]byte, error) { return nil, errUseEncode }

func (e Exec) attributes() []slog.Attr {
	args := ""
	if len(e.Args) > 0 {
		args = fmt.Sprintf("[%d]", len(e.Args))
	}
	variables := make([]string, len(e.Env))
	for i, v := range e.Env {
		variables[i] = v.Name
	}
	return append([]slog.Attr{slog.String("command", e.Command)}, texts(
		"args", args,
		"env", strings.Join(variables, ","),
		"apiVersion", e.APIVersion,
		"interactiveMode", e.InteractiveMode,
	)...)
}

// String names the variable.
func (v EnvVar) String() string { return "EnvVar{" + v.Name + "}" }

// Format implements [fmt.Formatter] for every verb.
func (v EnvVar) Format(f fmt.State, verb rune) { formatAs(f, verb, v.String()) }

// LogValue implements [slog.LogValuer].
func (v EnvVar) LogValue() slog.Value { return slog.StringValue(v.Name) }

// LogValue implements [slog.LogValuer]: the names of what is there.
func (c *Config) LogValue() slog.Value {
	return slog.GroupValue(texts(
		"current-context", c.CurrentContext,
		"contexts", strings.Join(names(c.Contexts), ","),
		"clusters", strings.Join(names(c.Clusters), ","),
		"users", strings.Join(names(c.Users), ","),
	)...)
}

// texts makes an attribute of each key and its value, where there is one.
func texts(pairs ...string) (list []slog.Attr) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, slog.String(pairs[i], pairs[i+1]))
		}
	}
	return list
}

func printed(list []slog.Attr) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Key + ":" + a.Value.String()
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func formatAs(f fmt.State, verb rune, s string) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", s)
		return
	}
	io.WriteString(f, s)
}
