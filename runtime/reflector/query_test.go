package reflector_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/reflector"
)

// A query gives what looking at every object gives, whatever indexes there are.
func TestQueryIsThatOfEveryObject(t *testing.T) {
	var (
		byColor = reflector.NewIndex(func(o *corev1.ConfigMap) []string { return []string{o.Data["color"]} })
		byBoth  = reflector.NewIndex(func(o *corev1.ConfigMap) []string { return []string{o.Data["color"], o.Data["shape"]} })
	)
	for name, indexes := range map[string][]*reflector.Index[corev1.ConfigMap]{
		"values alone": nil,
		"labels":       {reflector.ByLabel[corev1.ConfigMap]("app"), reflector.ByLabel[corev1.ConfigMap]("tier")},
		"namespaces":   {reflector.ByNamespace[corev1.ConfigMap]()},
		"all":          {reflector.ByNamespace[corev1.ConfigMap](), reflector.ByLabel[corev1.ConfigMap]("app")},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, func(t *testing.T, srv *apitest.Server) {
				random := rand.New(rand.NewPCG(1, 2))
				one := func(values ...string) string { return values[random.IntN(len(values))] }
				var objects []*corev1.ConfigMap
				for i := range 200 {
					o := object("o"+strconv.Itoa(i), strconv.Itoa(i+1), label("app", one("web", "db")))
					o.Namespace = one("default", "team", "team")
					if random.IntN(3) > 0 {
						label("tier", one("front", "back"))(o)
					}
					o.Data = map[string]string{"color": one("red", "blue"), "shape": one("round", "red")}
					objects = append(objects, o)
				}
				send(srv.Expect(stream).Watch(), "500", objects...)
				r := newReflector(srv, nil)
				for _, x := range append(indexes, byColor, byBoth) {
					r.Index(x)
				}
				run(t, r)
				for range 200 {
					namespace, selector := one("", "default", "team", "none"), one("", "app=web", "app in (web,db)", "tier=front,app=db", "app=none", "!tier")
					color, both := one("", "red", "none"), one("", "red", "round")
					q := reflector.Query[corev1.ConfigMap]{Namespace: namespace, Labels: parsed(t, selector)}
					if color != "" {
						q.Values = append(q.Values, reflector.IndexValue[corev1.ConfigMap]{Index: byColor, Value: color})
					}
					if both != "" {
						q.Values = append(q.Values, reflector.IndexValue[corev1.ConfigMap]{Index: byBoth, Value: both})
					}
					var want []string
					for _, o := range objects {
						if (namespace == "" || o.Namespace == namespace) && q.Labels.Matches(o.Labels) &&
							(color == "" || o.Data["color"] == color) && (both == "" || o.Data["color"] == both || o.Data["shape"] == both) {
							want = append(want, o.Name+"@"+o.ResourceVersion)
						}
					}
					slices.Sort(want)
					if diff := cmp.Diff(want, names(r.Store().Query(q))); diff != "" {
						t.Errorf("namespace %q, labels %q, color %q, both %q (-want +got):\n%s", namespace, selector, color, both, diff)
					}
				}
			})
		})
	}
}

// The namespaces of a store of several are found without an index; a cluster-scoped kind has none.
func TestQueryOfNamespaces(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		for i, namespace := range []string{"a", "b"} {
			o := object("in-"+namespace, strconv.Itoa(i+1))
			o.Namespace = namespace
			send(srv.Expect(fmt.Sprintf("GET /api/v1/namespaces/%s/configmaps?watch=true", namespace)).Watch(), "10", o)
		}
		r := newReflector(srv, &reflector.Options{Namespaces: reflector.NewNamespaceSet("a", "b")})
		run(t, r)
		for namespace, want := range map[string][]string{"": {"in-a@1", "in-b@2"}, "a": {"in-a@1"}, "b": {"in-b@2"}, "c": nil} {
			if diff := cmp.Diff(want, names(r.Store().Query(reflector.Query[corev1.ConfigMap]{Namespace: namespace}))); diff != "" {
				t.Errorf("namespace %q (-want +got):\n%s", namespace, diff)
			}
		}
	})
}

func TestQueryWithAnIndexThatIsNotRegistered(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, _ := started(t, srv, nil)
		defer func() {
			if recover() == nil {
				t.Error("nothing says so")
			}
		}()
		missing := reflector.IndexValue[corev1.ConfigMap]{Index: reflector.ByOwner[corev1.ConfigMap](), Value: "x"}
		for range r.Store().Query(reflector.Query[corev1.ConfigMap]{Values: []reflector.IndexValue[corev1.ConfigMap]{missing}}) {
			t.Error("an object")
		}
	})
}
