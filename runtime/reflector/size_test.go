package reflector_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

func TestAStoreThatGrowsTooLargeIsReported(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		var reports []*reflector.SizeError
		opts := &reflector.Options{MaxBytes: 20_000, Watch: watcher.Options{OnError: func(err error) {
			if size, ok := errors.AsType[*reflector.SizeError](err); ok {
				reports = append(reports, size)
			}
		}}}
		large := data("key", strings.Repeat("x", 10_000))
		watch := srv.Expect(stream).Watch()
		watch.Send("ADDED", object("a", "1", large))
		run(t, newReflector(srv, opts))
		if len(reports) != 0 {
			t.Fatalf("reported %v with one object", reports)
		}
		watch.Send("ADDED", object("b", "2", large)) // the snapshot is not complete
		synctest.Wait()
		if len(reports) != 1 {
			t.Fatalf("%d reports while the snapshot is read, want 1", len(reports))
		}
		r := reports[0]
		if r.Resource != "configmaps" || r.Objects != 2 || r.MaxBytes != 20_000 || r.Bytes < 20_000 || r.Bytes > 30_000 {
			t.Errorf("reported %+v", r)
		}
		watch.InitialEventsEnd("3")
		watch.Send("ADDED", object("c", "4", large))
		synctest.Wait()
		if len(reports) != 1 {
			t.Errorf("%d reports, want none before the size has doubled", len(reports))
		}
		watch.Send("ADDED", object("d", "5", large))
		synctest.Wait()
		if len(reports) != 2 || reports[1].Objects != 4 {
			t.Errorf("reports %v, want another of 4 objects", reports)
		}
	})
}

func TestMaxBytesIsNotNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		for _, share := range []bool{false, true} {
			err := newReflector(srv, &reflector.Options{MaxBytes: -1, Share: share}).Run(context.Background())
			if err == nil || !strings.Contains(err.Error(), "Options.MaxBytes is -1") {
				t.Errorf("Run = %v", err)
			}
		}
	})
}
