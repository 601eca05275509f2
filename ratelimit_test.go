package kube_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/google/go-cmp/cmp"
)

func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, err := kube.RateLimit(10, 3)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var at []time.Duration
		start := time.Now()
		rt := limit(roundTripper(func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(start))
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		send := func(n int) {
			at = nil
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://host/", nil)
					if _, err := rt.RoundTrip(req); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			slices.Sort(at)
		}
		const tenth = 100 * time.Millisecond
		send(6)
		if diff := cmp.Diff([]time.Duration{0, 0, 0, tenth, 2 * tenth, 3 * tenth}, at); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
		start = time.Now()
		send(5) // a long pause gives no more than the burst
		if diff := cmp.Diff([]time.Duration{0, 0, 0, tenth, 2 * tenth}, at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRateLimitAndContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, err := kube.RateLimit(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		rt := limit(roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		do := func(ctx context.Context) error {
			req, _ := http.NewRequestWithContext(ctx, "POST", "https://host/", strings.NewReader("x"))
			_, err := rt.RoundTrip(req)
			return err
		}
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := do(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 || !strings.Contains(err.Error(), "is in 1s") {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/4, cancel)
		if err := do(ctx); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second/4 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if err := do(t.Context()); err != nil || time.Since(start) != 2*time.Second || sent != 2 {
			t.Errorf("%v, %d sent after %s", err, sent, time.Since(start))
		}
	})
}

func TestRateLimitErrors(t *testing.T) {
	for _, test := range []struct {
		rate  float64
		burst int
		want  string
	}{
		{0, 1, "RateLimit of 0 requests per second"},
		{-1, 1, "RateLimit of -1 requests"},
		{math.NaN(), 1, "RateLimit of NaN requests"},
		{math.Inf(1), 1, "RateLimit of +Inf requests"},
		{1, 0, "burst of 0"},
		{1e-9, 1 << 40, "more than can be counted"},
	} {
		if _, err := kube.RateLimit(test.rate, test.burst); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v", err)
		}
	}
}
