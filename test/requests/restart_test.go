package requests_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

// TestRestart: a server that goes away and comes back is bridged by retries, for a hundred
// goroutines that read and apply.
func TestRestart(t *testing.T) {
	w := connect(t)
	ns := w.NewNamespace(t)
	cfg := w.user(t, "boss", "system:masters")
	cfg.MaxRetries = 1000 // the start takes longer than the ten that are the default
	cfg.Timeout = 3 * time.Minute
	var retries atomic.Int64
	cfg.OnRetry = func(kube.RetryInfo) { retries.Add(1) }
	api := newClient(t, cfg).Namespaced(core.ConfigMaps, ns)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var before, during, after atomic.Int64
	phase := &atomic.Pointer[atomic.Int64]{}
	phase.Store(&before)
	var wg, begun sync.WaitGroup
	for i := range 100 {
		begun.Add(1)
		wg.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprint("cm-", i)
				applied := configMap(name)
				applied.Data = map[string]string{"n": fmt.Sprint(n)}
				if _, err := api.Apply(t.Context(), applied, "test", nil); err != nil {
					t.Errorf("apply %d of %s: %v", n, name, err)
					return
				}
				got, err := api.Get(t.Context(), name)
				if err != nil || got.Data["n"] != applied.Data["n"] {
					t.Errorf("get %d of %s: %v, %v", n, name, got, err)
					return
				}
				phase.Load().Add(2)
				first()
			}
		})
	}
	begun.Wait()
	phase.Store(&during)
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	phase.Store(&after)
	eventually(t, "requests after the restart", func() bool { return after.Load() > 500 })
	cancel()
	wg.Wait()
	t.Logf("%d requests before, %d during, %d after the restart; %d retries", before.Load(), during.Load(), after.Load(), retries.Load())
	if retries.Load() == 0 {
		t.Error("nothing was retried, so nothing was shown")
	}
}
