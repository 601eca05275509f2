package controller_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/test/servers"
)

// The server is away for 30 seconds. The controller goes on by itself, makes few requests
// meanwhile, and heals what was broken behind its back.
func TestServerOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the 30 seconds that the server is away")
	}
	server := servers.Start(t, false)
	var requests atomic.Int64
	client := connect(t, server, counting(&requests))
	user := connect(t, server)
	ns := server.NewNamespace(t)
	run(t, mirror(client, ns))
	maps, secrets := user.Namespaced(core.ConfigMaps, ns), user.Namespaced(core.Secrets, ns)
	create(t, maps, mirrored("m", "1"))
	await(t, secrets, "m", present("1"))

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	before := requests.Load()
	<-time.After(30 * time.Second) // the outage itself, not a wait for something to happen
	if n := requests.Load() - before; n > 60 {
		t.Errorf("%d requests in 30s without a server: a busy loop", n)
	} else if n == 0 {
		t.Error("no request in 30s: nothing tries to come back")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := secrets.Delete(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	create(t, maps, mirrored("n", "2"))
	await(t, secrets, "m", present("1"))
	await(t, secrets, "n", present("2"))
}

// counting counts the requests that are sent.
func counting(n *atomic.Int64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			n.Add(1)
			return next.RoundTrip(r)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
