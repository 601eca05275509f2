package servers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/go-kube/kube/test/apiserver"
)

// Server is an API server that tests use.
type Server interface {
	// URL is the server's address, as in https://127.0.0.1:21234.
	URL() string
	// Kubeconfig is the path of a kubeconfig for the server.
	Kubeconfig() string
	// HTTPClient returns a client that the server knows as its admin.
	HTTPClient() *http.Client
	// NewNamespace makes a namespace named after the test, and returns its name.
	NewNamespace(t testing.TB) string
	// Kill ends the server as a crash would. Its objects stay.
	Kill() error
	// Restart starts the server again, at the same address. It returns when it is ready.
	Restart(ctx context.Context) error
	// Stop stops the server for good.
	Stop() error
}

var (
	_ Server = (*apiserver.Server)(nil)
	_ Server = (*memory)(nil)
)

// Env is the environment variable that picks a server.
const Env = "KUBE_TEST_SERVER"

const (
	inMemory = "kubetest"
	real     = "real"
)

// state is of the test binary: which server the tests run against at the moment, and the one
// that they share if it is in memory.
var state struct {
	mu     sync.Mutex
	name   string
	shared *memory
}

// Main runs the tests of a package against each server, and exits. It is the body of TestMain.
func Main(m *testing.M) {
	names := []string{inMemory, real}
	switch name := os.Getenv(Env); name {
	case "":
	case inMemory, real:
		names = []string{name}
	default:
		fmt.Fprintf(os.Stderr, "there is no server %q, as %s has it: it is %s or %s\n", name, Env, inMemory, real)
		os.Exit(2)
	}
	code := 0
	for _, name := range names {
		fmt.Println("server:", name)
		code = max(code, runOn(m, name))
	}
	os.Exit(code)
}

// runOn runs the tests against a server.
func runOn(m *testing.M, name string) int {
	state.mu.Lock()
	state.name = name
	state.mu.Unlock()
	if name == real {
		return apiserver.Run(m)
	}
	code := m.Run()
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.shared != nil {
		if err := state.shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		state.shared = nil
	}
	return code
}

// Shared returns the one server of this run of the tests, and starts it at the first call.
// Tests share its objects, so each works in a namespace of its own, and none stops it.
func Shared(t testing.TB) Server {
	t.Helper()
	state.mu.Lock()
	defer state.mu.Unlock()
	switch {
	case state.name == "":
		t.Fatal("servers: there is no TestMain that calls Main")
	case state.name == real:
		return apiserver.Shared(t)
	case state.shared == nil:
		shared, err := startMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		state.shared = shared
	}
	return state.shared
}

// Real returns the shared server if it is a real one, for what kubetest does not have: the test is
// skipped there, for this reason.
func Real(t testing.TB, reason string) *apiserver.Server {
	t.Helper()
	s, ok := Shared(t).(*apiserver.Server)
	if !ok {
		t.Skip("not on kubetest:", reason)
	}
	return s
}

// Start starts a server for this test alone, which ends with it. With all, it serves every
// version of every kind, and what is off by default.
func Start(t testing.TB, all bool) Server {
	t.Helper()
	s, err := start(t, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t testing.TB, all bool) (Server, error) {
	state.mu.Lock()
	name := state.name
	state.mu.Unlock()
	if name == inMemory {
		runtimeConfig := map[string]bool{}
		if all {
			runtimeConfig["api/all"] = true
		}
		return startMemory(runtimeConfig)
	}
	options := &apiserver.Options{Logf: t.Logf}
	if all {
		options.ExtraArgs = []string{"--runtime-config=api/all=true"}
		options.FeatureGates = map[string]bool{"AllAlpha": true, "AllBeta": true}
	}
	return apiserver.Start(t.Context(), options)
}
