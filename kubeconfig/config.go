package kubeconfig

import (
	"encoding/json/jsontext"
)

// Config is the content of a kubeconfig: of one file, or merged from several. It keeps what it
// does not know (the fields named Other), so that nothing is lost when it is written.
//
// Paths are as the files have them; [Config.Resolve] makes them absolute.
type Config struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Clusters, Users and Contexts are lists of named entries. Names are unique within a list.
	Clusters []NamedCluster `json:"clusters"`
	Users    []NamedUser    `json:"users"`
	Contexts []NamedContext `json:"contexts"`
	// CurrentContext is the context that is used unless another one is asked for.
	CurrentContext string           `json:"current-context"`
	Extensions     []NamedExtension `json:"extensions,omitzero"`
	// Other holds the fields that have no place above, the deprecated preferences among them.
	Other map[string]jsontext.Value `json:",embed"`
}

// NamedCluster is an entry of [Config.Clusters].
type NamedCluster struct {
	Name    string                    `json:"name"`
	Cluster Cluster                   `json:"cluster"`
	Other   map[string]jsontext.Value `json:",embed"`
	// Origin is the file that the entry was read from; empty for one made by a program.
	// Relative paths in the entry start from its folder.
	Origin string `json:"-"`
}

// NamedUser is an entry of [Config.Users].
type NamedUser struct {
	Name  string                    `json:"name"`
	User  User                      `json:"user"`
	Other map[string]jsontext.Value `json:",embed"`
	// Origin is the file that the entry was read from; empty for one made by a program.
	// Relative paths in the entry start from its folder.
	Origin string `json:"-"`
}

// NamedContext is an entry of [Config.Contexts].
type NamedContext struct {
	Name    string                    `json:"name"`
	Context Context                   `json:"context"`
	Other   map[string]jsontext.Value `json:",embed"`
	// Origin is the file that the entry was read from; empty for one made by a program.
	Origin string `json:"-"`
}

// NamedExtension is data that some tool keeps in a kubeconfig. Extension is any JSON value, null
// included.
type NamedExtension struct {
	Name      string                    `json:"name"`
	Extension jsontext.Value            `json:"extension"`
	Other     map[string]jsontext.Value `json:",embed"`
}

// Cluster says how to reach an API server.
type Cluster struct {
	// Server is the address: https://host[:port][/prefix].
	Server string `json:"server"`
	// TLSServerName is the name that the server's certificate is for, if not the host's.
	TLSServerName string `json:"tls-server-name,omitempty"`
	// InsecureSkipTLSVerify accepts any certificate.
	InsecureSkipTLSVerify bool `json:"insecure-skip-tls-verify,omitzero"`
	// CertificateAuthority is the path of a PEM file; CertificateAuthorityData is the PEM itself,
	// and wins.
	CertificateAuthority     string `json:"certificate-authority,omitempty"`
	CertificateAuthorityData Data   `json:"certificate-authority-data,omitzero"`
	// ProxyURL is the proxy to go through: http, https or socks5.
	ProxyURL string `json:"proxy-url,omitempty"`
	// DisableCompression stops asking the server for gzip.
	DisableCompression bool                      `json:"disable-compression,omitzero"`
	Extensions         []NamedExtension          `json:"extensions,omitzero"`
	Other              map[string]jsontext.Value `json:",embed"`
}

// User says who to be at an API server. Printing one with fmt or slog shows no secrets, and
// encoding/json refuses it; use [Config.Encode].
type User struct {
	// ClientCertificate and ClientKey are paths of PEM files; ClientCertificateData and
	// ClientKeyData are the PEM itself, and win.
	ClientCertificate     string `json:"client-certificate,omitempty"`
	ClientCertificateData Data   `json:"client-certificate-data,omitzero"`
	ClientKey             string `json:"client-key,omitempty"`
	ClientKeyData         Data   `json:"client-key-data,omitzero"`
	// Token is a bearer token. TokenFile is the path of a file that holds one; where it can be
	// read, it wins, since its content may be newer.
	Token     Secret `json:"token,omitempty"`
	TokenFile string `json:"tokenFile,omitempty"`
	// Impersonate is the user to act as; the others say more about that user.
	Impersonate          string              `json:"as,omitempty"`
	ImpersonateUID       string              `json:"as-uid,omitempty"`
	ImpersonateGroups    []string            `json:"as-groups,omitzero"`
	ImpersonateUserExtra map[string][]string `json:"as-user-extra,omitzero"`
	// Username and Password are for basic authentication.
	Username string `json:"username,omitempty"`
	Password Secret `json:"password,omitempty"`
	// AuthProvider names a credential provider that is built into the client, such as oidc.
	AuthProvider *AuthProvider `json:"auth-provider,omitempty"`
	// Exec names a program that hands out credentials.
	Exec       *Exec                     `json:"exec,omitempty"`
	Extensions []NamedExtension          `json:"extensions,omitzero"`
	Other      map[string]jsontext.Value `json:",embed"`
}

// AuthProvider names a built-in credential provider and its settings.
type AuthProvider struct {
	Name   string                    `json:"name"`
	Config map[string]Secret         `json:"config,omitzero"`
	Other  map[string]jsontext.Value `json:",embed"`
}

// Exec names a program that prints an ExecCredential. See
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
type Exec struct {
	// APIVersion is the version of client.authentication.k8s.io that the program speaks.
	APIVersion string `json:"apiVersion,omitempty"`
	// Command is looked up in PATH, or is a path if it holds a separator.
	Command string   `json:"command"`
	Args    []string `json:"args,omitzero"`
	// Env is added to the environment of the client.
	Env []EnvVar `json:"env,omitzero"`
	// InstallHint is for the user who does not have the program.
	InstallHint string `json:"installHint,omitempty"`
	// ProvideClusterInfo hands the cluster's address and authority to the program.
	ProvideClusterInfo bool `json:"provideClusterInfo,omitzero"`
	// InteractiveMode is Never, IfAvailable or Always; empty is IfAvailable.
	InteractiveMode string                    `json:"interactiveMode,omitempty"`
	Other           map[string]jsontext.Value `json:",embed"`
}

// EnvVar is an environment variable for an [Exec].
type EnvVar struct {
	Name  string                    `json:"name"`
	Value Secret                    `json:"value"`
	Other map[string]jsontext.Value `json:",embed"`
}

// Context is a cluster, a user and a namespace to work in.
type Context struct {
	// Cluster and User are names of entries. An empty user is anonymous.
	Cluster string `json:"cluster"`
	User    string `json:"user"`
	// Namespace is used where none is named; empty means "default".
	Namespace  string                    `json:"namespace,omitempty"`
	Extensions []NamedExtension          `json:"extensions,omitzero"`
	Other      map[string]jsontext.Value `json:",embed"`
}

// Cluster returns the cluster entry with this name, nil if there is none. It points into the
// list, and can be used to change the entry.
func (c *Config) Cluster(name string) *NamedCluster { return find(c.Clusters, name) }

// User returns the user entry with this name, nil if there is none. It points into the
// list, and can be used to change the entry.
func (c *Config) User(name string) *NamedUser { return find(c.Users, name) }

// Context returns the context entry with this name, nil if there is none. It points into the
// list, and can be used to change the entry.
func (c *Config) Context(name string) *NamedContext { return find(c.Contexts, name) }

// entry is what the three lists have in common.
type entry interface {
	NamedCluster | NamedUser | NamedContext
	entryName() string
}

func (e NamedCluster) entryName() string { return e.Name }
func (e NamedUser) entryName() string    { return e.Name }
func (e NamedContext) entryName() string { return e.Name }

func find[E entry](list []E, name string) *E {
	for i := range list {
		if list[i].entryName() == name {
			return &list[i]
		}
	}
	return nil
}

func names[E entry](list []E) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].entryName()
	}
	return out
}
