package apiserver

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Version is the version of Kubernetes that [Start] runs, as in 1.37.2.
const Version = "1.37.2"

// Options are the settings of [Start]. The zero value is ready to use.
type Options struct {
	// Dir holds the data of etcd, the certificates, the kubeconfig and the log. If it has
	// those of an earlier run, they are used again, and Stop keeps it. The default is a new
	// temporary folder that Stop removes.
	Dir string

	// Port is the port on 127.0.0.1. If it is taken, Start waits ten seconds for it and then
	// fails. The default, 0, takes a free one below 32000, so that no outgoing connection of
	// the machine can take it while the server is down.
	Port int

	// FeatureGates turns features of Kubernetes on and off, by name.
	FeatureGates map[string]bool

	// ExtraArgs are flags of kube-apiserver, as in --v=4. One that is set here replaces
	// what the server would be started with otherwise, lists included.
	ExtraArgs []string

	// Logf receives what is worth telling a person who waits: that the server is being built,
	// and how far it is. It may be called by several goroutines. The default writes lines to
	// the standard error.
	Logf func(format string, args ...any)
}

// complete returns a valid copy with every default filled in.
func (o *Options) complete() (*Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Port < 0 || c.Port > 65535 {
		return nil, fmt.Errorf("apiserver: Options.Port is %d; it has to be from 0 to 65535", c.Port)
	}
	for _, arg := range c.ExtraArgs {
		if !strings.HasPrefix(arg, "--") || !strings.Contains(arg, "=") {
			return nil, fmt.Errorf("apiserver: Options.ExtraArgs has %q; it has to be of the form --flag=value", arg)
		}
	}
	c.ExtraArgs = slices.Clone(c.ExtraArgs)
	c.FeatureGates = maps.Clone(c.FeatureGates)
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("apiserver: Options.Dir: %w", err)
		}
		c.Dir = dir
	}
	if c.Logf == nil {
		c.Logf = logToStderr
	}
	return &c, nil
}

func logToStderr(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// flags returns the flags of kube-apiserver, in a stable order.
func (o *Options) flags() []string {
	flags := slices.Clone(o.ExtraArgs)
	for _, gate := range slices.Sorted(maps.Keys(o.FeatureGates)) {
		flags = append(flags, fmt.Sprintf("--feature-gates=%s=%t", gate, o.FeatureGates[gate]))
	}
	return flags
}
