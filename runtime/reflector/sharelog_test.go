package reflector_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// logbook is a log that a test reads, without its times and debug records.
type logbook struct {
	*slog.Logger
	mu   sync.Mutex
	text bytes.Buffer
}

func newLogbook(attrs ...any) *logbook {
	b := &logbook{}
	b.Logger = slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "delay" {
			return slog.Attr{}
		}
		return a
	}})).With(attrs...)
	return b
}

func (b *logbook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// want checks that the lines since the last call are those, each with these parts.
func (b *logbook) want(t *testing.T, lines ...[]string) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := slices.Collect(strings.Lines(b.text.String()))
	b.text.Reset()
	if len(got) != len(lines) {
		t.Errorf("got %d lines, want %d:\n%s", len(got), len(lines), strings.Join(got, ""))
		return
	}
	for i, parts := range lines {
		for _, part := range parts {
			if !strings.Contains(got[i], part) {
				t.Errorf("line %q has no %q", got[i], part)
			}
		}
	}
}

func sharedWith(log *slog.Logger) *reflector.Options {
	return &reflector.Options{Share: true, Watch: watcher.Options{Logger: log}}
}

// Who shares a watch learns from its own log what is wrong with it, once, whoever began it; who comes late learns
// what the others know, and who has left learns nothing.
func TestEveryLogTellsOfASharedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect(stream).Times(6).Status(403, metav1.StatusReasonForbidden, "you may not", 0)
		api := srv.Client().All(core.ConfigMaps)
		one, two, late, quiet := newLogbook("name", "one"), newLogbook("name", "two"), newLogbook("name", "late"), newLogbook()
		stop := run(t, reflector.New(api, sharedWith(one.Logger)))
		one.want(t, []string{"level=ERROR", "watch is not allowed", "name=one", "configmaps", "you may not"})
		for range 2 { // who have a logger in common
			run(t, reflector.New(api, sharedWith(two.Logger)))
		}
		listen(t, reflector.NewFeed(api.Endpoint(), &reflector.FeedOptions{Share: true, Watch: watcher.Options{Logger: late.Logger}}))
		failing := []string{"level=WARN", "the watch that is shared is failing", "configmaps", "you may not", "failures=1"}
		two.want(t, failing, failing) // one for each who comes
		late.want(t, failing)
		time.Sleep(2 * time.Second)
		for _, log := range []*logbook{one, two, late} {
			log.want(t)
		}
		stop() // whose watch it is
		run(t, reflector.New(api, sharedWith(slog.New(slog.DiscardHandler))))
		run(t, reflector.New(api, sharedWith(slog.New(slog.NewTextHandler(quiet, &slog.HandlerOptions{Level: slog.LevelError})))))
		srv.Expect(stream).Watch().InitialEventsEnd("10")
		time.Sleep(5 * time.Minute)
		one.want(t)
		again := []string{"level=INFO", "watch works again", "failures=6"}
		two.want(t, append(again, "name=two"))
		late.want(t, append(again, "name=late"))
		quiet.want(t)
	})
}

// The namespaces of several stores are watched by one watch, of which each log tells once.
func TestEveryLogTellsOfTheWatchOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect("GET /api/v1/namespaces").Always().Status(403, metav1.StatusReasonForbidden, "you may not", 0)
		client := srv.Client()
		log := newLogbook()
		opts := sharedWith(log.Logger)
		opts.Namespaces = reflector.SelectNamespaces(client, "team=blue")
		run(t, reflector.New(client.All(core.ConfigMaps), opts))
		log.want(t, []string{"watch is not allowed", "namespaces"})
		run(t, reflector.New(client.All(core.Secrets), opts))
		log.want(t, []string{"the watch that is shared is failing", "namespaces"})
		time.Sleep(time.Hour)
		log.want(t)
	})
}
