package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-kube/kube/kubeconfig"
)

// Config says how to reach an API server and who to be there. [InferConfig],
// [ConfigFromKubeconfig] and [InClusterConfig] make one; a program can also fill it in by
// hand, and only Server is required.
//
// [NewClient] copies the configuration: changing it later has no effect on a client. Printing
// a Config with fmt or slog never shows a secret.
type Config struct {
	// Server is the address of the API server: https://host[:port][/prefix]. A path is kept
	// as a prefix of every request, for servers behind a gateway (Rancher's
	// /k8s/clusters/ID). A bare host or host:port gets https when there is anything that
	// only makes sense over TLS (an authority, a client certificate, Insecure, ServerName,
	// a token or a password), and http otherwise.
	Server string
	// Namespace is used where a call names none. Empty means "default".
	Namespace string

	// CAData and CAFile are the certificate authorities, as PEM, that the server's certificate
	// has to come from. CAData wins. A file is read again at most a minute after it changed, and
	// at once when a handshake fails for an unknown authority. Without both, the system's
	// authorities count.
	CAData []byte
	CAFile string
	// CertData or CertFile is the client certificate (PEM, leaf first), KeyData or KeyFile its
	// key. Data wins over files. Files are read again at most a minute after they changed, and at
	// once when the server refuses the certificate.
	CertData []byte
	CertFile string
	KeyData  []byte
	KeyFile  string
	// ServerName is the name that the server's certificate has to be for, and that is sent as
	// SNI, when it differs from the host in Server. It may be an IP address.
	ServerName string
	// Insecure accepts any server certificate: whoever is on the way can read and change
	// everything, credentials included. It excludes CAData and CAFile.
	Insecure bool

	// BearerToken is sent as Authorization header.
	BearerToken string
	// BearerTokenFile holds a token that is replaced from time to time, as those of service
	// accounts are: it is read again every minute, and when the server answers 401. As long as
	// it cannot be read, the last token stays in use. It wins over BearerToken.
	BearerTokenFile string
	// Username and Password are for servers behind a proxy with basic authentication; the
	// API server itself has none since Kubernetes 1.19. They exclude the bearer token.
	Username string
	Password string
	// Credentials hands out tokens, client certificates, or both, that end. It is asked before
	// the first request, a minute before the end of what it gave (or a fifth of its life, if that
	// is less), and when the server answers 401. What it says stays in use for as long as it can
	// when asking for more fails. It is called by one goroutine at a time, which goes on when
	// the request that needs it is given up: others may wait for it. A kubeconfig's exec plugin
	// or auth-provider becomes such a function, see [kubeconfig.Resolved.Credentials].
	//
	// It excludes the bearer token, Username and Password. A client certificate of the
	// configuration itself wins over one that is handed out.
	Credentials kubeconfig.CredentialFunc
	// Impersonate acts as somebody else.
	Impersonate Impersonation

	// ProxyURL is the proxy to go through: http, https, socks5 or socks5h, with
	// user:password@ where it wants that. Empty means the environment's: HTTPS_PROXY,
	// HTTP_PROXY and NO_PROXY, in upper or lower case, as they are when the process first asks.
	ProxyURL string

	// DisableCompression stops asking for gzip. The API server compresses answers of more
	// than 128 KiB, which saves bandwidth and costs processor time on both sides: right over
	// the internet, wrong within a data centre. [InClusterConfig] sets it. Watches are never
	// compressed.
	DisableCompression bool
	// UserAgent is how the program calls itself in the server's audit log and metrics.
	// Empty means the program's name, its module version and the platform.
	UserAgent string
	// Timeout bounds each request that is neither a watch nor another stream and whose context
	// has no deadline. Zero means [DefaultTimeout], a negative value no bound. It covers the
	// whole call: retries and the reading of the answer included.
	Timeout time.Duration

	// MaxRetries is how often a request is sent again after the first time; zero means 10.
	// See [RetryInfo] for what is retried and when.
	MaxRetries int
	// DisableRetry sends every request once only.
	DisableRetry bool
	// OnRetry is called before each wait for another attempt. It must be quick and safe for
	// concurrent use.
	OnRetry func(RetryInfo)
	// OnWarning is called for each warning that the API server sends with an answer, such as
	// the use of a deprecated API. It must be safe for concurrent use. Nil means that each
	// text is logged once.
	OnWarning func(Warning)
	// Logger receives what deserves attention. Nil is silent.
	Logger *slog.Logger

	// Wrap is middleware around every request, the first one outermost. It stands outside of
	// everything that the client does itself: it sees each request once, however often it is
	// retried, and before credentials are added. [RequestInfoFrom] tells it what the
	// request is about.
	Wrap []func(http.RoundTripper) http.RoundTripper
	// Transport takes the place of the connections to the server; retries, credentials,
	// impersonation and warnings still apply. It excludes the fields that only shape
	// connections: the TLS ones, ProxyURL, Dial, Protocols and DisableCompression.
	Transport http.RoundTripper
	// Dial opens connections in place of the operating system, to servers and to proxies.
	// With a listener made of pipes it gives a network that lives in memory.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Protocols chooses the HTTP versions. Nil means HTTP/2 where the server offers it over TLS,
	// else HTTP/1.1. UnencryptedHTTP2 without HTTP1 speaks HTTP/2 to servers with an http://
	// address.
	Protocols *http.Protocols
}

// Impersonation makes requests on behalf of another user, if the own user is allowed to.
// See https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
type Impersonation struct {
	// User is the name of the user to act as. The other fields need it.
	User string
	// UID, Groups and Extra replace what the server knows about the user.
	UID    string
	Groups []string
	Extra  map[string][]string
}

func (i Impersonation) isZero() bool {
	return i.User == "" && i.UID == "" && len(i.Groups) == 0 && len(i.Extra) == 0
}

// Clone returns a copy that shares nothing with c that could be changed through it, except
// for what its functions, its Logger and its Transport hold.
func (c *Config) Clone() *Config {
	d := *c
	d.CAData = slices.Clone(c.CAData)
	d.CertData = slices.Clone(c.CertData)
	d.KeyData = slices.Clone(c.KeyData)
	d.Wrap = slices.Clone(c.Wrap)
	d.Impersonate.Groups = slices.Clone(c.Impersonate.Groups)
	d.Impersonate.Extra = maps.Clone(c.Impersonate.Extra)
	for k, v := range d.Impersonate.Extra {
		d.Impersonate.Extra[k] = slices.Clone(v)
	}
	if c.Protocols != nil {
		d.Protocols = new(*c.Protocols)
	}
	return &d
}

// prepared returns a validated copy of c with its defaults filled in, and the address that
// requests start from.
func (c *Config) prepared() (*Config, *url.URL, error) {
	if c == nil {
		return nil, nil, errors.New("kube: no configuration; InferConfig finds one")
	}
	c = c.Clone()
	base, err := c.baseURL()
	if err == nil {
		err = c.validate()
	}
	if err != nil {
		return nil, nil, prefixed(err)
	}
	c.fillIn()
	return c, base, nil
}

func (c *Config) fillIn() {
	if c.UserAgent == "" {
		c.UserAgent = defaultUserAgent()
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxRetries == 0 {
		c.MaxRetries = defaultMaxRetries
	}
	if c.DisableRetry {
		c.MaxRetries = 0
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// baseURL takes Server apart. Credentials within it become Username and Password, where the
// rest of the code looks for them.
func (c *Config) baseURL() (*url.URL, error) {
	u, err := parseServer(c.Server, c.wantsTLS())
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		if c.Username == "" && c.Password == "" {
			c.Username = u.User.Username()
			c.Password, _ = u.User.Password()
		}
		u.User = nil
	}
	return u, nil
}

// wantsTLS reports whether there is a setting that has no use without TLS, or that should not
// travel without it.
func (c *Config) wantsTLS() bool {
	return c.usesTLSFields() || c.BearerToken != "" || c.BearerTokenFile != "" || c.Username != "" || c.Password != "" || c.Credentials != nil
}

func (c *Config) usesTLSFields() bool {
	return len(c.CAData) > 0 || c.CAFile != "" || c.hasClientCertificate() || c.ServerName != "" || c.Insecure
}

func (c *Config) hasClientCertificate() bool {
	return len(c.CertData) > 0 || c.CertFile != "" || len(c.KeyData) > 0 || c.KeyFile != ""
}

// parseServer reads the address of an API server as client-go does, except that a bare host
// gets https also when credentials would be sent to it.
func parseServer(server string, https bool) (*url.URL, error) {
	if server == "" {
		return nil, errors.New("Config.Server is empty; it has to be the address of an API server, such as https://host:6443")
	}
	u, err := url.Parse(server)
	if (err != nil || u.Scheme == "" || u.Host == "") && !strings.Contains(server, "://") {
		scheme := "http://"
		if https {
			scheme = "https://"
		}
		u, err = url.Parse(scheme + server)
		if err == nil && strings.Trim(u.Path, "/") != "" {
			err = errors.New("an address with a path needs a scheme")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("Config.Server %q is not an address: %w", redactURL(server), unwrapURLError(err))
	}
	if err := checkServer(u); err != nil {
		return nil, fmt.Errorf("Config.Server %q: %w", u.Redacted(), err)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

func checkServer(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("scheme %q is neither https nor http", u.Scheme)
	case u.Hostname() == "":
		return errors.New("there is no host in it")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("a query or fragment has no meaning here; remove it")
	}
	return nil
}

// validate refuses settings that contradict each other: each of them would otherwise be
// ignored somewhere without a word.
func (c *Config) validate() error {
	token := c.BearerToken != "" || c.BearerTokenFile != ""
	cert := len(c.CertData) > 0 || c.CertFile != ""
	key := len(c.KeyData) > 0 || c.KeyFile != ""
	switch {
	case c.Insecure && (len(c.CAData) > 0 || c.CAFile != ""):
		return errors.New("Config.Insecure excludes CAData and CAFile: with it the server's certificate is not looked at")
	case cert && !key:
		return errors.New("the Config has a client certificate without its key; set KeyData or KeyFile")
	case key && !cert:
		return errors.New("the Config has a client key without its certificate; set CertData or CertFile")
	case token && (c.Username != "" || c.Password != ""):
		return errors.New("the Config has both a bearer token and a username or password; only one of them can be sent")
	case c.Credentials != nil && (token || c.Username != "" || c.Password != ""):
		return errors.New("the Config has both Credentials and a bearer token or password; only one of them can be sent")
	case c.Impersonate.User == "" && !c.Impersonate.isZero():
		return errors.New("Config.Impersonate has a UID, Groups or Extra without a User")
	case slices.ContainsFunc(c.Wrap, isNilMiddleware):
		return errors.New("Config.Wrap has an entry that is nil")
	case c.MaxRetries < 0:
		return fmt.Errorf("Config.MaxRetries is %d; use DisableRetry to send requests once", c.MaxRetries)
	case c.Transport != nil && c.shapesConnections():
		return errors.New("Config.Transport excludes the TLS fields, ProxyURL, Dial, Protocols and DisableCompression: it has connections of its own")
	}
	return nil
}

func isNilMiddleware(wrap func(http.RoundTripper) http.RoundTripper) bool { return wrap == nil }

func (c *Config) shapesConnections() bool {
	return c.usesTLSFields() || c.ProxyURL != "" || c.Dial != nil || c.Protocols != nil || c.DisableCompression
}

// defaultUserAgent is program/version (os/arch) kube/version, as Kubernetes' own components
// call themselves.
func defaultUserAgent() string {
	program, version, library := "unknown", "unknown", "devel"
	if len(os.Args) > 0 && os.Args[0] != "" {
		program = strings.Map(tokenRune, strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"))
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		version = strings.Trim(build.Main.Version, "()")
		if i := slices.IndexFunc(build.Deps, isThisModule); i >= 0 {
			library = build.Deps[i].Version
		}
	}
	return fmt.Sprintf("%s/%s (%s/%s) kube/%s", program, version, runtime.GOOS, runtime.GOARCH, library)
}

func isThisModule(m *debug.Module) bool { return m.Path == "github.com/go-kube/kube" }

// tokenRune replaces what may not stand in a product name of a User-Agent header.
func tokenRune(r rune) rune {
	if r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
		return r
	}
	return '_'
}

// prefixed says which package an error is from.
func prefixed(err error) error { return fmt.Errorf("kube: %w", err) }
