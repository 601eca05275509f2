package servers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// memory is kubetest, reached by TLS as the real server is.
type memory struct {
	server *kubetest.Server
	dir    string
	config *kube.Config
}

func startMemory(runtimeConfig map[string]bool) (*memory, error) {
	server, err := kubetest.NewServer(&kubetest.Options{RuntimeConfig: runtimeConfig})
	if err != nil {
		return nil, err
	}
	m := &memory{server: server}
	if err := m.listen(); err != nil {
		return nil, errors.Join(err, m.Stop())
	}
	return m, nil
}

func (m *memory) listen() (err error) {
	if m.dir, err = os.MkdirTemp("", "kube-test-"); err != nil {
		return err
	}
	data, err := m.server.ListenTLS("127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.Kubeconfig(), data, 0o600); err != nil {
		return err
	}
	m.config, err = kube.ConfigFromKubeconfig(m.Kubeconfig(), nil)
	return err
}

func (m *memory) URL() string { return m.config.Server }

func (m *memory) Kubeconfig() string { return filepath.Join(m.dir, "kubeconfig") }

func (m *memory) HTTPClient() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.config.CAData)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
}

func (m *memory) NewNamespace(t testing.TB) string {
	t.Helper()
	prefix := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-" + prefix[:min(len(prefix), 50)] + "-"}}
	created, err := m.server.Client().All(core.Namespaces).Create(t.Context(), namespace, nil)
	if err != nil {
		t.Fatal(err)
	}
	return created.Name
}

func (m *memory) Kill() error {
	m.server.Stop()
	return nil
}

func (m *memory) Restart(context.Context) error {
	m.server.Restart()
	return nil
}

func (m *memory) Stop() error {
	m.server.Close()
	return os.RemoveAll(m.dir)
}
