package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// serviceAccountDir is where the kubelet mounts a pod's credentials. See
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// ErrNotInCluster is the error of [InClusterConfig] for a program that does not run in a pod.
var ErrNotInCluster = errors.New("not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set")

// InClusterConfig returns the configuration that a pod has through its service account: the
// server from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, token and authority from the
// mounted files, which are followed when they change, and as default namespace POD_NAMESPACE if
// that is set, else the pod's own. Without a mounted authority the system's count. Compression is
// off: see [Config.DisableCompression].
func InClusterConfig() (*Config, error) {
	cfg, err := inClusterConfig(os.Getenv, serviceAccountDir)
	if err != nil {
		return nil, prefixed(err)
	}
	return cfg, nil
}

func inClusterConfig(getenv func(string) string, dir string) (*Config, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, ErrNotInCluster
	}
	c := &Config{
		Server:             "https://" + net.JoinHostPort(strings.Trim(host, "[]"), port),
		BearerTokenFile:    filepath.Join(dir, "token"),
		CAFile:             filepath.Join(dir, "ca.crt"),
		DisableCompression: true,
	}
	if _, err := os.Stat(c.BearerTokenFile); err != nil {
		return nil, fmt.Errorf("in a pod without a service account token (see automountServiceAccountToken): %w", err)
	}
	if _, err := os.Stat(c.CAFile); errors.Is(err, fs.ErrNotExist) {
		c.CAFile = ""
	}
	c.Namespace = podNamespace(getenv, dir)
	return c, nil
}

func podNamespace(getenv func(string) string, dir string) string {
	if ns := getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	data, err := os.ReadFile(filepath.Join(dir, "namespace"))
	if ns := strings.TrimSpace(string(data)); err == nil && ns != "" {
		return ns
	}
	return "default"
}
