package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-kube/kube/kubeconfig"
)

// InferConfig finds out how to reach the cluster that the user means, or the one that the program
// runs in: the kubeconfig (the files in KUBECONFIG, else ~/.kube/config) if there is one, and the
// service account of the pod otherwise. The error tells why neither works.
//
// A kubeconfig that is there and cannot be used is an error, also in a pod: going on with
// the service account would mean to act as somebody else, perhaps on another cluster.
func InferConfig() (*Config, error) {
	cfg, err := fromKubeconfig("", nil)
	if err == nil {
		return cfg, nil
	}
	if !isAbsent(err) {
		return nil, prefixed(err)
	}
	cfg, inClusterErr := inClusterConfig(os.Getenv, serviceAccountDir)
	if inClusterErr != nil {
		return nil, fmt.Errorf("kube: no cluster to talk to: %w; %w", err, inClusterErr)
	}
	return cfg, nil
}

// isAbsent reports whether err says that there is no kubeconfig, or nothing in it.
func isAbsent(err error) bool {
	if errors.Is(err, kubeconfig.ErrEmpty) {
		return true
	}
	var e *fileError
	return errors.Is(err, fs.ErrNotExist) && !errors.As(err, &e)
}

// KubeconfigOptions choose something else than the current context of a kubeconfig and its parts.
type KubeconfigOptions struct {
	// Context is the context to use instead of the current one.
	Context string
	// Cluster and User name entries to use instead of the context's.
	Cluster string
	User    string
	// Namespace is the default namespace, instead of the context's.
	Namespace string
}

// ConfigFromKubeconfig returns the configuration for a context of the kubeconfig at path; the
// current context if opts, which may be nil, does not say otherwise. An empty path stands for the
// user's own: the files in KUBECONFIG, else ~/.kube/config.
//
// Files named there have to be readable. As in client-go, credentials are not taken to a server
// whose address begins with http://, where everybody on the way could read them; impersonation
// is.
//
// A user's exec plugin or auth-provider runs when the first request needs it, with the standard
// input where it wants that and os.Stderr to write to; see [Config.Credentials]. As in client-go,
// a token or a password that stands beside it is used in its place.
func ConfigFromKubeconfig(path string, opts *KubeconfigOptions) (*Config, error) {
	cfg, err := fromKubeconfig(path, opts)
	if err != nil {
		return nil, prefixed(err)
	}
	return cfg, nil
}

// ConfigFromLoaded is [ConfigFromKubeconfig] for a kubeconfig that has been loaded, or put
// together, with package kubeconfig.
func ConfigFromLoaded(loaded *kubeconfig.Config, opts *KubeconfigOptions) (*Config, error) {
	cfg, err := fromLoaded(loaded, opts)
	if err != nil {
		return nil, prefixed(err)
	}
	return cfg, nil
}

func fromKubeconfig(path string, opts *KubeconfigOptions) (*Config, error) {
	load := kubeconfig.LoadDefault
	if path != "" {
		load = func() (*kubeconfig.Config, error) { return kubeconfig.Load(path) }
	}
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	return fromLoaded(loaded, opts)
}

func fromLoaded(loaded *kubeconfig.Config, opts *KubeconfigOptions) (*Config, error) {
	overrides := kubeconfig.Overrides{}
	if opts != nil {
		overrides = kubeconfig.Overrides(*opts)
	}
	resolved, err := loaded.Resolve(&overrides)
	if err != nil {
		return nil, err
	}
	cfg, err := configOf(resolved)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return cfg, nil
}

func configOf(r *kubeconfig.Resolved) (*Config, error) {
	if r.Cluster.Server == "" {
		return nil, fmt.Errorf("cluster %q has no server; set its address", r.ClusterName)
	}
	c := &Config{Namespace: r.Namespace}
	addCluster(c, &r.Cluster)
	u, err := parseServer(c.Server, c.usesTLSFields())
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", r.ClusterName, err)
	}
	if c.ProxyURL != "" {
		if _, err := parseProxy(c.ProxyURL); err != nil {
			return nil, fmt.Errorf("cluster %q: %w", r.ClusterName, err)
		}
	}
	if err := addUser(c, r, u.Scheme == "https"); err != nil {
		return nil, fmt.Errorf("user %q: %w", r.UserName, err)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("context %q (cluster %q, user %q): %w", r.ContextName, r.ClusterName, r.UserName, err)
	}
	if err := readableFiles(c, r); err != nil {
		return nil, err
	}
	return c, nil
}

func addCluster(c *Config, from *kubeconfig.Cluster) {
	c.Server = from.Server
	c.CAData = from.CertificateAuthorityData
	if len(c.CAData) == 0 {
		c.CAFile = from.CertificateAuthority
	}
	c.ServerName = from.TLSServerName
	c.Insecure = from.InsecureSkipTLSVerify
	c.ProxyURL = from.ProxyURL
	c.DisableCompression = from.DisableCompression
}

func addUser(c *Config, r *kubeconfig.Resolved, secure bool) error {
	from := &r.User
	c.Impersonate = Impersonation{
		User:   from.Impersonate,
		UID:    from.ImpersonateUID,
		Groups: from.ImpersonateGroups,
		Extra:  from.ImpersonateUserExtra,
	}
	if !secure {
		return nil
	}
	c.BearerToken = string(from.Token)
	c.BearerTokenFile = from.TokenFile
	c.Username = from.Username
	c.Password = string(from.Password)
	c.CertData = from.ClientCertificateData
	if len(c.CertData) == 0 {
		c.CertFile = from.ClientCertificate
	}
	c.KeyData = from.ClientKeyData
	if len(c.KeyData) == 0 {
		c.KeyFile = from.ClientKey
	}
	source, err := r.Credentials(nil)
	if err == nil && from.Token == "" && from.TokenFile == "" && from.Username == "" && from.Password == "" {
		c.Credentials = source
	}
	return err
}

// fileError is about a file that a kubeconfig names, and not to be taken for a kubeconfig that is
// not there.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// readableFiles opens the files that c names: a wrong path is found here, where the entry that
// holds it can be told.
func readableFiles(c *Config, r *kubeconfig.Resolved) error {
	cluster, user := fmt.Sprintf("cluster %q", r.ClusterName), fmt.Sprintf("user %q", r.UserName)
	tokenFile := c.BearerTokenFile
	if c.BearerToken != "" {
		tokenFile = "" // the token stands in for it
	}
	var all []error
	for _, f := range []struct{ entry, field, path string }{
		{cluster, "certificate-authority", c.CAFile},
		{user, "client-certificate", c.CertFile},
		{user, "client-key", c.KeyFile},
		{user, "tokenFile", tokenFile},
	} {
		if f.path == "" {
			continue
		}
		file, err := os.Open(f.path)
		if err != nil {
			all = append(all, &fileError{fmt.Errorf("%s: %s: %w", f.entry, f.field, err)})
			continue
		}
		file.Close()
	}
	return errors.Join(all...)
}
