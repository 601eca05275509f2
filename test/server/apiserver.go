package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/metrics/prometheus/version" // the kubernetes_build_info metric
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	basecompatibility "k8s.io/component-base/compatibility"
)

// runAPIServer serves on listener until ctx ends. It does what the kube-apiserver command does
// with its flags; only the listener cannot be given by a flag.
func runAPIServer(ctx context.Context, listener net.Listener, flags []string) error {
	s := options.NewServerRunOptions()
	if err := parseFlags(s, flags); err != nil {
		return err
	}
	s.SecureServing.Listener = listener
	components := s.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := components.Set(); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	gates := components.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(s.Logs, gates); err != nil {
		return err
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return errors.Join(errs...)
	}
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	components.AddMetrics()
	fmt.Printf("https://%s\n", listener.Addr())
	return app.Run(ctx, completed)
}

func parseFlags(s *options.ServerRunOptions, flags []string) error {
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, named := range s.Flags().FlagSets {
		set.AddFlagSet(named)
	}
	if err := set.Parse(flags); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: only flags are taken", set.Arg(0))
	}
	for _, d := range defaults {
		if set.Changed(d.flag) {
			continue
		}
		if err := set.Set(d.flag, d.value); err != nil {
			return fmt.Errorf("--%s=%s: %w", d.flag, d.value, err)
		}
	}
	return nil
}

// defaults are what a lone server on loopback needs. A flag that is given replaces its default
// (flags that take a list would otherwise add to it). Files are relative to the working
// directory, where package apiserver puts them.
var defaults = []struct{ flag, value string }{
	{"etcd-servers", etcdURL},
	{"bind-address", "127.0.0.1"},
	// Without it the address of the default route is taken, which a machine may not have.
	{"advertise-address", "127.0.0.1"},
	// Endpoints may not name a loopback address, so there is nothing to reconcile.
	{"endpoint-reconciler-type", "none"},
	{"service-cluster-ip-range", "10.0.0.0/16"},
	{"tls-cert-file", "pki/server.crt"},
	{"tls-private-key-file", "pki/server.key"},
	{"client-ca-file", "pki/ca.crt"},
	{"token-auth-file", "pki/tokens.csv"},
	{"service-account-issuer", "https://kubernetes.default.svc.cluster.local"},
	{"service-account-key-file", "pki/sa.key"},
	{"service-account-signing-key-file", "pki/sa.key"},
	{"authorization-mode", "RBAC"},
	{"allow-privileged", "true"},
	// This plugin asks for the namespace's default service account, which no controller makes
	// here, so no pod could be created.
	{"disable-admission-plugins", "ServiceAccount"},
	{"profiling", "false"},
}
