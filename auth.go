package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// identity is who the client is for one request. It never changes.
type identity struct {
	// header is the value of Authorization; empty where a client certificate says it all.
	header string
	// cert and key are a client certificate that came with the credentials.
	cert, key []byte
}

// credentials says who the client is.
type credentials interface {
	// current returns the identity to use now; it is safe for concurrent use.
	current(ctx context.Context) (*identity, error)
	// renewed is called when the server answered 401 to a request that was sent as used. It
	// returns another identity to try, nil if there is none.
	renewed(ctx context.Context, used *identity) (*identity, error)
}

// newCredentials chooses the credentials that c asks for; nil if there are none.
func newCredentials(c *Config) (credentials, error) {
	switch {
	case c.BearerTokenFile != "":
		return newTokenFile(c)
	case c.BearerToken != "":
		token := strings.TrimSpace(c.BearerToken)
		if err := checkToken([]byte(token)); err != nil {
			return nil, fmt.Errorf("Config.BearerToken %w", err)
		}
		return fixedCredentials{&identity{header: "Bearer " + token}}, nil
	case c.Username != "" || c.Password != "":
		if strings.Contains(c.Username, ":") {
			return nil, fmt.Errorf("Config.Username %q holds a colon, which basic authentication cannot send", c.Username)
		}
		pair := []byte(c.Username + ":" + c.Password)
		return fixedCredentials{&identity{header: "Basic " + base64.StdEncoding.EncodeToString(pair)}}, nil
	case c.Credentials != nil:
		return &sourced{source: c.Credentials, logger: c.Logger, tokenOnly: noCertificates(c)}, nil
	}
	return nil, nil
}

// noCertificates says why a client certificate that is handed out could not be used; empty where it
// can.
func noCertificates(c *Config) string {
	switch {
	case c.Transport != nil:
		return "Config.Transport has connections of its own"
	case strings.HasPrefix(c.Server, "http://"):
		return "Config.Server is not https"
	}
	return ""
}

// fixedCredentials never change.
type fixedCredentials struct{ id *identity }

func (f fixedCredentials) current(context.Context) (*identity, error) { return f.id, nil }
func (f fixedCredentials) renewed(context.Context, *identity) (*identity, error) {
	return nil, nil
}

// tokenFile is a bearer token in a file that somebody replaces: the kubelet does at 80 % of a
// token's life, which is ten minutes at least, so that reading it each minute is always in time.
type tokenFile struct {
	path   string
	logger *slog.Logger

	id      atomic.Pointer[identity] // as last read
	checked atomic.Int64             // when, in Unix nanoseconds
	mu      sync.Mutex               // held while reading
}

// newTokenFile reads the file, so that a wrong path is an error at once; a token given beside
// the file stands in for one that cannot be read yet.
func newTokenFile(c *Config) (*tokenFile, error) {
	f := &tokenFile{path: c.BearerTokenFile, logger: c.Logger}
	f.checked.Store(time.Now().UnixNano())
	header, err := f.read()
	if err != nil && c.BearerToken != "" {
		header, err = "Bearer "+strings.TrimSpace(c.BearerToken), nil
	}
	if err != nil {
		return nil, err
	}
	f.id.Store(&identity{header: header})
	return f, nil
}

func (f *tokenFile) current(context.Context) (*identity, error) {
	if time.Now().UnixNano()-f.checked.Load() >= int64(fileReloadInterval) && f.mu.TryLock() {
		// One request reads; those beside it use the token that was good until now.
		f.reread()
		f.mu.Unlock()
	}
	return f.id.Load(), nil
}

func (f *tokenFile) renewed(_ context.Context, used *identity) (*identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.id.Load() == used {
		f.reread()
	}
	if id := f.id.Load(); id != used {
		return id, nil
	}
	return nil, nil
}

// reread is called with mu held.
func (f *tokenFile) reread() {
	f.checked.Store(time.Now().UnixNano())
	header, err := f.read()
	if err != nil {
		f.logger.Warn("kube: token file cannot be read, going on with the previous token", slog.Any("error", err))
		return
	}
	if header != f.id.Load().header {
		f.id.Store(&identity{header: header})
	}
}

func (f *tokenFile) read() (header string, err error) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("Config.BearerTokenFile: %w", err)
	}
	token := bytes.TrimSpace(data)
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("Config.BearerTokenFile: %s %w", f.path, err)
	}
	return "Bearer " + string(token), nil
}

// checkToken refuses what cannot be sent in a header.
func checkToken(token []byte) error {
	if len(token) == 0 {
		return errors.New("is empty")
	}
	if i := slices.IndexFunc(token, func(b byte) bool { return b <= ' ' || b >= 0x7f }); i >= 0 {
		return fmt.Errorf("is not a token: byte %d of it is %#02x, which cannot be sent in a header", i, token[i])
	}
	return nil
}

// headerField is a header that goes with every request.
type headerField struct {
	key    string // canonical
	values []string
}

const (
	impersonateUser  = "Impersonate-User"
	impersonateExtra = "Impersonate-Extra-"
)

// identityHeaders lists the headers that say who asks, the Authorization apart.
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
func identityHeaders(c *Config) ([]headerField, error) {
	fields := []headerField{{"User-Agent", []string{c.UserAgent}}}
	if i := c.Impersonate; !i.isZero() {
		fields = append(fields, headerField{impersonateUser, []string{i.User}})
		if i.UID != "" {
			fields = append(fields, headerField{"Impersonate-Uid", []string{i.UID}})
		}
		if len(i.Groups) > 0 {
			fields = append(fields, headerField{"Impersonate-Group", i.Groups})
		}
		for _, key := range slices.Sorted(maps.Keys(i.Extra)) {
			if len(i.Extra[key]) > 0 {
				name := http.CanonicalHeaderKey(impersonateExtra + escapeHeaderKey(key))
				fields = append(fields, headerField{name, i.Extra[key]})
			}
		}
	}
	for _, f := range fields {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// check refuses values that would arrive as something else, or not at all.
func (f headerField) check() error {
	for _, v := range f.values {
		if v != strings.TrimSpace(v) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("header %s cannot have the value %q: control characters and outer blanks do not arrive", f.key, v)
		}
	}
	return nil
}

// escapeHeaderKey percent-encodes what may not stand in a header's name (RFC 9110, token), and
// the percent sign. The API server decodes it.
func escapeHeaderKey(key string) string {
	const legal = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var b strings.Builder
	for i := range len(key) {
		if strings.IndexByte(legal, key[i]) >= 0 {
			b.WriteByte(key[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", key[i])
		}
	}
	return b.String()
}

// identityTransport adds credentials and identity to requests. A request that brings its own
// Authorization or impersonation keeps it.
type identityTransport struct {
	next        http.RoundTripper
	credentials credentials
	headers     []headerField
}

// RoundTrip implements [http.RoundTripper]. A 401 makes the credentials look for something
// newer, and the request is sent once more if they find it.
func (t *identityTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	signed := t.dressed(req)
	if t.credentials == nil || req.Header.Get("Authorization") != "" {
		return t.next.RoundTrip(signed)
	}
	used, err := t.credentials.current(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	used.sign(signed)
	resp, err := t.next.RoundTrip(signed)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	newer, err := t.credentials.renewed(req.Context(), used)
	if err != nil {
		discard(resp)
		return nil, err
	}
	again, ok := rewind(signed)
	if newer == nil || !ok {
		return resp, nil
	}
	discard(resp)
	newer.sign(again)
	return t.next.RoundTrip(again)
}

func (id *identity) sign(req *http.Request) {
	if id.header != "" {
		req.Header["Authorization"] = []string{id.header}
	}
}

// closeBody does what a round tripper owes to a request that it does not send.
func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// dressed returns a copy of req with the headers of every request: the caller's must not change.
func (t *identityTransport) dressed(req *http.Request) *http.Request {
	r := req.WithContext(req.Context())
	r.Header = make(http.Header, len(req.Header)+len(t.headers)+2)
	maps.Copy(r.Header, req.Header)
	own := req.Header.Get(impersonateUser) != ""
	for _, f := range t.headers {
		if _, set := r.Header[f.key]; !set && !(own && strings.HasPrefix(f.key, "Impersonate-")) {
			r.Header[f.key] = f.values
		}
	}
	if _, set := r.Header["Accept-Encoding"]; !set && isWatch(req) {
		// Events are to be read one by one as they come; a compressor would hold them back.
		r.Header["Accept-Encoding"] = []string{"identity"}
	}
	return r
}

// isWatch reports whether the answer of req is an endless stream of events.
func isWatch(req *http.Request) bool {
	if c := requestContextFrom(req.Context()); c != nil {
		return c.info.Verb == "watch"
	}
	return req.URL.RawQuery != "" && req.URL.Query().Get("watch") == "true"
}
