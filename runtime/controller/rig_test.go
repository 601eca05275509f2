package controller

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type widgetSpec struct {
	Size int    `json:"size"`
	Part string `json:"part,omitempty"`
}

type widget = resource.Object[widgetSpec, struct{}]

type realm = resource.Object[struct{}, struct{}]

var (
	widgets = resource.DefineNamespaced[widget](resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"})
	gadgets = resource.DefineNamespaced[widget](resource.Info{Group: "example.com", Version: "v1", Kind: "Gadget"})
	realms  = resource.DefineCluster[realm](resource.Info{Group: "example.com", Version: "v1", Kind: "Realm"})
)

const (
	widgetsPath = "/apis/example.com/v1/widgets"
	gadgetsPath = "/apis/example.com/v1/gadgets"
	realmsPath  = "/apis/example.com/v1/realms"
)

// rig is a scripted API server and what a controller under test did.
type rig struct {
	*journal
	t       *testing.T
	srv     *apitest.Server
	client  *kube.Client
	log     lockedBuffer
	version int
}

// inBubble runs f with a rig in a bubble.
func inBubble(t *testing.T, f func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, journal: newJournal(), srv: apitest.Start(t, nil)}
		r.connect()
		f(t, r)
	})
}

func (r *rig) connect() {
	cfg := r.srv.Config()
	cfg.Logger = slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{ReplaceAttr: plainLog}))
	client, err := kube.NewClient(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	r.client = client
}

// plainLog leaves out what differs from run to run.
func plainLog(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// watch answers a streaming list and the watches that follow it.
func (r *rig) watch(path string) *apitest.Watch {
	return r.srv.Expect("GET " + path + "?watch=true").Always().Watch()
}

// serve is watch with the first list complete.
func (r *rig) serve(path string, objects ...any) *apitest.Watch {
	w := r.watch(path)
	for _, obj := range objects {
		w.Send("ADDED", obj)
	}
	w.InitialEventsEnd(r.next())
	return w
}

// next returns a new resource version.
func (r *rig) next() string {
	r.version++
	return strconv.Itoa(r.version)
}

// object returns a widget or gadget with a new resource version.
func (r *rig) object(name string, changes ...func(*widget)) *widget {
	w := &widget{
		TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), ResourceVersion: r.next(), Generation: 1,
		},
	}
	for _, change := range changes {
		change(w)
	}
	return w
}

func size(n int) func(*widget) { return func(w *widget) { w.Spec.Size, w.Generation = n, int64(n) } }

func ownedBy(kind, name, uid string) func(*widget) {
	return func(w *widget) {
		w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{
			APIVersion: "example.com/v1beta1", Kind: kind, Name: name, UID: types.UID(uid),
		})
	}
}

// start runs ctl until the test ends, when Run has to return nil.
func (r *rig) start(ctl interface{ Run(context.Context) error }) {
	stop := r.run(ctl)
	r.t.Cleanup(func() {
		if err := stop(); err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
}

// run runs ctl until stop is called, which returns what Run returned.
func (r *rig) run(ctl interface{ Run(context.Context) error }) (stop func() error) {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ctl.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// noting returns a reconciler that notes each call and returns what result says.
func (r *rig) noting(result func(w *widget) (Action, error)) func(context.Context, *widget) (Action, error) {
	return func(ctx context.Context, w *widget) (Action, error) {
		r.add(fmt.Sprintf("%s size %d (%s, attempt %d)", w.Name, w.Spec.Size, ReasonFrom(ctx), AttemptFrom(ctx)))
		if result == nil {
			return Await(), nil
		}
		return result(w)
	}
}

// clear empties the journal, and starts its clock again.
func (r *rig) clear() {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.began = nil, time.Now()
}

// wantLog checks that a line of the log has all parts.
func (r *rig) wantLog(parts ...string) {
	r.t.Helper()
	synctest.Wait()
	for line := range strings.Lines(r.log.String()) {
		found := true
		for _, part := range parts {
			found = found && strings.Contains(line, part)
		}
		if found {
			return
		}
	}
	r.t.Errorf("no line of the log has %q:\n%s", parts, r.log.String())
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// wantSorted is want for lines that come at the same time in any order.
func (r *rig) wantSorted(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	slices.Sort(r.lines)
	r.mu.Unlock()
	r.want(t, want...)
}

// yields returns what yields refs, and then waits for the end.
func yields(refs ...resource.Ref[realm]) func(context.Context) iter.Seq[resource.Ref[realm]] {
	return func(ctx context.Context) iter.Seq[resource.Ref[realm]] {
		return func(yield func(resource.Ref[realm]) bool) {
			for _, ref := range refs {
				if !yield(ref) {
					return
				}
			}
			<-ctx.Done()
		}
	}
}

func (r *rig) silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
