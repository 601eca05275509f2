package apiserver

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// SharedEnv is the environment variable that names the kubeconfig of a running server for
// [Shared] to use. The command github.com/go-kube/kube/test/cmd/apiserver sets it.
const SharedEnv = "KUBE_TEST_SERVER_KUBECONFIG"

// shared is the server of this test binary: a process-wide value, since that is what it is for.
var shared struct {
	mu     sync.Mutex
	server *Server
	err    error
}

// Shared returns the one server of this test binary, and starts it at the first call. Tests
// share its objects, so each works in a namespace of its own ([Server.NewNamespace]), and none
// stops it. If it does not start, every test that asks for it fails with the same error.
//
// If KUBE_TEST_SERVER_KUBECONFIG is set, it is the server of that kubeconfig.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil && shared.err == nil {
		// Not the test's context: the server outlives it.
		shared.server, shared.err = openShared(context.Background())
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

func openShared(ctx context.Context) (*Server, error) {
	if path := os.Getenv(SharedEnv); path != "" {
		s, err := Attach(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%w (the path is from %s)", err, SharedEnv)
		}
		return s, nil
	}
	return Start(ctx, nil)
}

// Main is [Run], and exits. It is the body of TestMain.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs the tests of a package, stops the server that [Shared] started, if any, and returns
// the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if s := shared.server; s != nil && s.options != nil {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// NewNamespace makes a namespace named after the test, and returns its name. It stays: nothing
// runs that could empty it.
func (s *Server) NewNamespace(t testing.TB) string {
	t.Helper()
	name, err := s.newNamespace(t.Context(), namespacePrefix(t.Name()))
	if err != nil {
		t.Fatalf("apiserver: new namespace: %v", err)
	}
	return name
}

// object is what is said and read of a namespace.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name,omitempty"`
		GenerateName string `json:"generateName,omitempty"`
	} `json:"metadata"`
}

func (s *Server) newNamespace(ctx context.Context, prefix string) (string, error) {
	namespace := object{APIVersion: "v1", Kind: "Namespace"}
	namespace.Metadata.GenerateName = prefix
	body, err := json.Marshal(namespace)
	if err != nil {
		return "", err
	}
	data, err := s.do(ctx, http.MethodPost, "/api/v1/namespaces", bytes.NewReader(body), http.StatusCreated)
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(data, &namespace)
	return namespace.Metadata.Name, err
}

// namespacePrefix makes a test's name fit for the start of a namespace's: lower case letters,
// digits and dashes, with room for the end within the 63 bytes of a DNS label.
func namespacePrefix(test string) string {
	prefix := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '-'
		}
	}, test)
	prefix = strings.Trim(prefix[:min(len(prefix), 50)], "-")
	return "t-" + prefix + "-"
}
