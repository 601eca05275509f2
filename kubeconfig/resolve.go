package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// ErrEmpty is the error of [Config.Resolve] when there is nothing to choose from: no context and
// no cluster.
var ErrEmpty = errors.New("the kubeconfig is empty")

// Overrides choose something else than the current context and its parts.
type Overrides struct {
	// Context is the context to use instead of the current one.
	Context string
	// Cluster and User name entries to use instead of the context's. With a Cluster no
	// context is needed.
	Cluster string
	User    string
	// Namespace is used instead of the context's.
	Namespace string
}

// Resolved is one way to one cluster, with absolute paths.
type Resolved struct {
	// ContextName, ClusterName and UserName are the names of the entries it came from.
	// ContextName is empty if no context was needed, UserName for an anonymous user.
	ContextName string
	ClusterName string
	UserName    string
	// Namespace is the one to work in, "default" if none was given.
	Namespace string
	Cluster   Cluster
	User      User
	// UserOrigin is the file that the user entry was read from: where refreshed tokens are
	// written to. Empty for an entry made by a program.
	UserOrigin string
}

// Resolve follows the current context, or what overrides say instead, to its cluster and user.
// Relative paths are made absolute: they start from the folder of the file that the entry came
// from. An exec command is a path only if it holds a separator.
//
// A name without an entry is an error that lists the entries there are. In particular a
// context's user has to exist: being anonymous is asked for with an empty user.
func (c *Config) Resolve(overrides *Overrides) (*Resolved, error) {
	o := Overrides{}
	if overrides != nil {
		o = *overrides
	}
	r, err := c.resolve(o)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return r, nil
}

func (c *Config) resolve(o Overrides) (*Resolved, error) {
	context, err := c.chosen(o)
	if err != nil {
		return nil, err
	}
	r := &Resolved{
		ContextName: context.Name,
		ClusterName: cmp.Or(o.Cluster, context.Context.Cluster),
		UserName:    cmp.Or(o.User, context.Context.User),
		Namespace:   cmp.Or(o.Namespace, context.Context.Namespace, "default"),
	}
	cluster := c.Cluster(r.ClusterName)
	if cluster == nil {
		return nil, missing("cluster", r.ClusterName, o.Cluster, context.Name, names(c.Clusters))
	}
	r.Cluster = cluster.absolute()
	if r.UserName == "" {
		return r, nil
	}
	user := c.User(r.UserName)
	if user == nil {
		return nil, missing("user", r.UserName, o.User, context.Name, names(c.Users))
	}
	r.User, r.UserOrigin = user.absolute(), user.Origin
	return r, nil
}

// chosen returns the context to start from; an empty one if a cluster is named without.
func (c *Config) chosen(o Overrides) (NamedContext, error) {
	name := cmp.Or(o.Context, c.CurrentContext)
	switch context := c.Context(name); {
	case context != nil && name != "":
		return *context, nil
	case name == "" && o.Cluster != "":
		return NamedContext{}, nil
	case len(c.Contexts) == 0 && len(c.Clusters) == 0 && o.Context == "":
		return NamedContext{}, ErrEmpty
	}
	problem := fmt.Sprintf("there is no context %q", name)
	switch {
	case name == "":
		problem = "no current-context is set"
	case o.Context == "":
		problem = fmt.Sprintf("the current-context %q does not exist", name)
	}
	return NamedContext{}, fmt.Errorf("%s; choose %s", problem, oneOf("context", names(c.Contexts)))
}

func missing(what, name, override, context string, known []string) error {
	switch {
	case override != "":
		return fmt.Errorf("there is no %s %q; choose %s", what, name, oneOf(what, known))
	case name == "":
		return fmt.Errorf("the context %q names no %s; choose %s", context, what, oneOf(what, known))
	}
	return fmt.Errorf("the context %q names the %s %q, which does not exist; choose %s", context, what, name, oneOf(what, known))
}

// oneOf lists what there is to choose from, as far as a person wants to read.
func oneOf(what string, known []string) string {
	const most = 10
	known = slices.Sorted(slices.Values(known))
	switch n := len(known); {
	case n == 0:
		return "a " + what + " after adding one; there are none"
	case n > most:
		return fmt.Sprintf("one of the %ss %s and %d others", what, quoted(known[:most]), n-most)
	}
	return fmt.Sprintf("one of the %ss %s", what, quoted(known))
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}

func (n *NamedCluster) absolute() Cluster {
	c := n.Cluster
	c.CertificateAuthority = fromFolderOf(n.Origin, c.CertificateAuthority)
	return c
}

func (n *NamedUser) absolute() User {
	u := n.User
	u.ClientCertificate = fromFolderOf(n.Origin, u.ClientCertificate)
	u.ClientKey = fromFolderOf(n.Origin, u.ClientKey)
	u.TokenFile = fromFolderOf(n.Origin, u.TokenFile)
	if u.Exec != nil {
		exec := *u.Exec
		if strings.ContainsRune(exec.Command, filepath.Separator) {
			exec.Command = fromFolderOf(n.Origin, exec.Command)
		}
		u.Exec = &exec
	}
	if u.AuthProvider != nil {
		provider := *u.AuthProvider
		provider.Config = maps.Clone(provider.Config)
		for _, key := range []string{"cmd-path", "idp-certificate-authority"} {
			path := string(provider.Config[key])
			if path != "" && (key != "cmd-path" || strings.ContainsRune(path, filepath.Separator)) {
				provider.Config[key] = Secret(fromFolderOf(n.Origin, path))
			}
		}
		u.AuthProvider = &provider
	}
	return u
}

// fromFolderOf resolves path against the folder of origin.
func fromFolderOf(origin, path string) string {
	if path == "" || origin == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(origin), path)
}
