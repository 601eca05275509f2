package reflector_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

func parsed(t *testing.T, text string) resource.Selector {
	t.Helper()
	selector, err := resource.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

func TestSelect(t *testing.T) {
	selections := map[string]string{
		"":                        "a b c d e",
		"app=web":                 "a b",
		"app==db":                 "c",
		"app in (web,db)":         "a b c",
		"app in (web,db,none)":    "a b c",
		"app=none":                "",
		"app=web,tier=front":      "a",
		"tier=front,app=web":      "a",
		"app!=web":                "c d e",
		"app":                     "a b c",
		"!app":                    "d e",
		"app,tier=front":          "a c",
		"app=web,app=db":          "",
		"tier in (front),!absent": "a c d",
	}
	for name, indexes := range map[string][]*reflector.Index[corev1.ConfigMap]{
		"scan": nil,
		"app":  {reflector.ByLabel[corev1.ConfigMap]("app")},
		"both": {reflector.ByLabel[corev1.ConfigMap]("app"), reflector.ByLabel[corev1.ConfigMap]("tier"), reflector.ByNamespace[corev1.ConfigMap]()},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, func(t *testing.T, srv *apitest.Server) {
				send(srv.Expect(stream).Watch(), "10",
					object("a", "1", label("app", "web"), label("tier", "front")), object("b", "2", label("app", "web")),
					object("c", "3", label("app", "db"), label("tier", "front")), object("d", "4", label("tier", "front")), object("e", "5"))
				r := newReflector(srv, nil)
				for _, x := range indexes {
					r.Index(x)
				}
				run(t, r)
				for text, want := range selections {
					var got []string
					for _, name := range names(r.Store().Select(parsed(t, text))) {
						got = append(got, strings.Split(name, "@")[0])
					}
					if diff := cmp.Diff(strings.Fields(want), got, cmp.Transformer("text", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
						t.Errorf("%q (-want +got):\n%s", text, diff)
					}
				}
			})
		})
	}
}

func TestFindAndFilter(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, _ := started(t, srv, nil, object("a", "1", data("k", "x")), object("b", "2", data("k", "y")), object("c", "3", data("k", "y")))
		y := func(lazy resource.Lazy[corev1.ConfigMap]) bool {
			o, err := lazy.Decode()
			return err == nil && o.Data["k"] == "y"
		}
		if diff := cmp.Diff([]string{"b@2", "c@3"}, names(r.Store().Filter(y))); diff != "" {
			t.Errorf("Filter (-want +got):\n%s", diff)
		}
		if lazy, ok := r.Store().Find(y); !ok || !y(lazy) {
			t.Errorf("Find returned %v, %v", lazy, ok)
		}
		if lazy, ok := r.Store().Find(func(resource.Lazy[corev1.ConfigMap]) bool { return false }); ok || lazy.Raw != nil {
			t.Errorf("Find returned %v, %v for what is not there", lazy, ok)
		}
	})
}

// One store serves those who want objects and those who want metadata, decoded or not.
func TestMetadataOfAStore(t *testing.T) {
	for _, decoded := range []bool{false, true} {
		t.Run("decoded "+strconv.FormatBool(decoded), func(t *testing.T) {
			inBubbles(t, func(t *testing.T, srv *apitest.Server) {
				r, _ := started(t, srv, &reflector.Options{Decoded: decoded}, object("a", "1", data("k", "x"), label("app", "web")))
				meta, err := reflector.Metadata(r.Store()).Get(resource.Ref[resource.Metadata[corev1.ConfigMap]](ref("a")))
				if err != nil {
					t.Fatal(err)
				}
				if meta.Name != "a" || meta.ResourceVersion != "1" || meta.Labels["app"] != "web" || meta.Kind != "ConfigMap" {
					t.Errorf("got metadata %+v", meta)
				}
				whole, err := r.Store().Get(ref("a"))
				if err != nil || whole.Data["k"] != "x" {
					t.Errorf("got object %+v and error %v", whole, err)
				}
			})
		})
	}
}
