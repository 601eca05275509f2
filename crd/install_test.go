package crd_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/internal/apitest"
)

const (
	crds     = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	applying = "PATCH " + crds + "/webapps.example.com?fieldManager=test&force=true"
	watching = "GET " + crds + "?watch=true&fieldSelector=metadata.name%3Dwebapps.example.com"
	reading  = "GET " + crds + "/webapps.example.com"
)

func webAppCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	def, err := crd.For(WebApps, nil)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// stored is the definition as the server keeps it at a resource version, with conditions
// written as Type=Status.
func stored(t *testing.T, version string, conditions ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	def := webAppCRD(t)
	def.ResourceVersion = version
	for _, c := range conditions {
		is, status, _ := strings.Cut(c, "=")
		condition := apiextensionsv1.CustomResourceDefinitionCondition{
			Type:   apiextensionsv1.CustomResourceDefinitionConditionType(is),
			Status: apiextensionsv1.ConditionStatus(status),
		}
		switch c {
		case "NamesAccepted=True":
			def.Status.AcceptedNames = def.Spec.Names
		case "NamesAccepted=False":
			def.Status.AcceptedNames = def.Spec.Names
			def.Status.AcceptedNames.ShortNames, def.Status.AcceptedNames.Kind = nil, ""
			condition.Reason, condition.Message = "KindConflict", `"WebApp" is already in use`
		case "Established=False":
			condition.Reason, condition.Message = "Installing", "the initial names have been accepted"
		}
		def.Status.Conditions = append(def.Status.Conditions, condition)
	}
	return def
}

func deleting(def *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	def.DeletionTimestamp = new(metav1.Now())
	return def
}

// installing runs Install against a script, with a deadline of a minute of false time, and
// checks the error and the time that it took.
func installing(t *testing.T, wantError string, wantTime time.Duration, script func(*testing.T, *apitest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		script(t, srv)
		start := time.Now()
		err := crd.Install(t.Context(), srv.Client(), "test", webAppCRD(t))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(wantError, got); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
		if took := time.Since(start); took != wantTime {
			t.Errorf("it took %s, want %s", took, wantTime)
		}
	})
}

func TestInstall(t *testing.T) {
	t.Run("there already", func(t *testing.T) {
		installing(t, "", 0, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(200, stored(t, "5", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("new", func(t *testing.T) {
		installing(t, "", 0, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(201, stored(t, "5"))
			first := srv.Expect(watching + "&resourceVersion=5").Watch()
			first.Bookmark("6")
			first.Send("MODIFIED", stored(t, "7", "NamesAccepted=True", "Established=False"))
			srv.Expect(watching+"&resourceVersion=7").Watch().Send("MODIFIED", stored(t, "8", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("short name added to an established one", func(t *testing.T) {
		installing(t, "", 0, func(t *testing.T, srv *apitest.Server) {
			old := stored(t, "5", "NamesAccepted=True", "Established=True")
			old.Status.AcceptedNames.ShortNames = nil
			srv.Expect(applying).JSON(200, old)
			srv.Expect(watching+"&resourceVersion=5").Watch().Send("MODIFIED", stored(t, "6", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("watch ends, is refused, breaks", func(t *testing.T) {
		installing(t, "", 3*500*time.Millisecond, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(201, stored(t, "5"))
			ended := srv.Expect(watching + "&resourceVersion=5")
			ended.Watch().Close()
			read := srv.Expect(reading).After(ended).JSON(200, stored(t, "6"))
			refused := srv.Expect(watching+"&resourceVersion=6").After(read).Status(403, metav1.StatusReasonForbidden, "no watch", 0)
			read = srv.Expect(reading).After(refused).JSON(200, stored(t, "7"))
			broken := srv.Expect(watching + "&resourceVersion=7").After(read)
			broken.Watch().Abort()
			srv.Expect(reading).After(broken).JSON(200, stored(t, "8", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("read breaks", func(t *testing.T) {
		installing(t, "", time.Second, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(201, stored(t, "5"))
			srv.Expect(watching).Times(2).Status(500, metav1.StatusReasonInternalError, "oops", 0)
			broken := srv.Expect(reading).Reply(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10")
				w.Write([]byte("{"))
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
			srv.Expect(reading).After(broken).JSON(200, stored(t, "6", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("silent watch", func(t *testing.T) {
		installing(t, "", 11500*time.Millisecond, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(201, stored(t, "5"))
			srv.Expect(watching + "&timeoutSeconds=10").Watch()
			srv.Expect(reading).JSON(200, stored(t, "6", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("being deleted", func(t *testing.T) {
		installing(t, "", 0, func(t *testing.T, srv *apitest.Server) {
			apply := srv.Expect(applying).JSON(200, deleting(stored(t, "5", "NamesAccepted=True", "Established=True")))
			srv.Expect(watching+"&resourceVersion=5").Watch().Send("DELETED", deleting(stored(t, "6")))
			srv.Expect(applying).After(apply).JSON(201, stored(t, "7", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("deleted unseen", func(t *testing.T) {
		installing(t, "", 500*time.Millisecond, func(t *testing.T, srv *apitest.Server) {
			apply := srv.Expect(applying).JSON(200, deleting(stored(t, "5")))
			srv.Expect(watching).Status(410, metav1.StatusReasonExpired, "too old", 0)
			srv.Expect(reading).JSON(404, notFound())
			srv.Expect(applying).After(apply).JSON(201, stored(t, "7", "NamesAccepted=True", "Established=True"))
		})
	})
	t.Run("conflict that goes", func(t *testing.T) {
		installing(t, "", 0, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(200, stored(t, "5", "NamesAccepted=False"))
			srv.Expect(watching+"&resourceVersion=5").Watch().Send("MODIFIED", stored(t, "6", "NamesAccepted=True", "Established=True"))
		})
	})
}

func notFound() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: 404, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Name: "webapps.example.com"},
	}
}

func TestInstallFails(t *testing.T) {
	t.Run("conflict that stays", func(t *testing.T) {
		const want = `crd: installing webapps.example.com: the API server does not accept kind "WebApp", short name "wa": "WebApp" is already in use (KindConflict)`
		installing(t, want, 3500*time.Millisecond, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(200, stored(t, "5", "NamesAccepted=False"))
			srv.Expect(watching + "&resourceVersion=5").Watch()
			srv.Expect(reading).JSON(200, stored(t, "5", "NamesAccepted=False"))
		})
	})
	t.Run("refused", func(t *testing.T) {
		const want = `crd: installing webapps.example.com: apply customresourcedefinitions.apiextensions.k8s.io webapps.example.com: may not`
		installing(t, want, 0, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).Status(403, metav1.StatusReasonForbidden, "may not", 0)
		})
	})
	t.Run("may not read", func(t *testing.T) {
		const want = `crd: installing webapps.example.com: get customresourcedefinitions.apiextensions.k8s.io webapps.example.com: no get`
		installing(t, want, 500*time.Millisecond, func(t *testing.T, srv *apitest.Server) {
			srv.Expect(applying).JSON(201, stored(t, "5"))
			srv.Expect(watching).Status(403, metav1.StatusReasonForbidden, "no watch", 0)
			srv.Expect(reading).Status(403, metav1.StatusReasonForbidden, "no get", 0)
		})
	})
	t.Run("never established", func(t *testing.T) {
		const want = `crd: installing webapps.example.com: context deadline exceeded: it is applied, and not established: the initial names have been accepted (Installing)`
		installing(t, want, time.Minute, func(t *testing.T, srv *apitest.Server) {
			state := stored(t, "5", "NamesAccepted=True", "Established=False")
			srv.Expect(applying).JSON(201, state)
			srv.Expect(watching).Times(6).Watch()
			srv.Expect(reading).Times(5).JSON(200, state)
		})
	})
	t.Run("deletion that lasts", func(t *testing.T) {
		const want = `crd: installing webapps.example.com: context deadline exceeded: the definition of that name is being deleted, which waits for the deletion of its objects`
		installing(t, want, time.Minute, func(t *testing.T, srv *apitest.Server) {
			state := deleting(stored(t, "5", "NamesAccepted=True", "Established=True"))
			srv.Expect(applying).JSON(200, state)
			srv.Expect(watching).Times(6).Watch()
			srv.Expect(reading).Times(5).JSON(200, state)
		})
	})
}

func TestInstallBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		state := stored(t, "5", "NamesAccepted=True", "Established=True")
		state.Status.AcceptedNames.ShortNames = nil
		srv.Expect(applying).JSON(201, state)
		srv.Expect(watching).Watch()
		err := crd.Install(ctx, srv.Client(), "test", webAppCRD(t))
		const want = `crd: installing webapps.example.com: context deadline exceeded: it is applied, and the server has not accepted yet: short name "wa"`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestInstallUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 1700*time.Millisecond)
		defer cancel()
		srv.Expect(applying).JSON(201, stored(t, "5"))
		watches := srv.Expect(watching).Always().Status(503, metav1.StatusReasonServiceUnavailable, "gone home", 0)
		reads := srv.Expect(reading).Always().Status(503, metav1.StatusReasonServiceUnavailable, "gone home", 0)
		err := crd.Install(ctx, srv.Client(), "test", webAppCRD(t))
		const want = `crd: installing webapps.example.com: context deadline exceeded: it is applied, and the server has not begun to establish it; reading its state failed: watch customresourcedefinitions.apiextensions.k8s.io: gone home`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if watches.Served() != 4 || reads.Served() != 3 {
			t.Errorf("%d watches and %d reads in 1.7 s, want 4 and 3", watches.Served(), reads.Served())
		}
	})
}

// All definitions are applied before the first is waited for, and what was read from a server
// is applied without what the server added.
func TestInstallSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		first := stored(t, "4", "NamesAccepted=True")
		first.UID, first.ManagedFields = "uid", []metav1.ManagedFieldsEntry{{Manager: "other"}}
		second := stored(t, "9", "NamesAccepted=True", "Established=True")
		second.Name = "others.example.com"

		srv.Expect(applying).JSON(201, stored(t, "5"))
		other := srv.Expect("PATCH "+crds+"/others.example.com").JSON(200, second)
		srv.Expect(watching).After(other).Watch().Send("MODIFIED", stored(t, "6", "NamesAccepted=True", "Established=True"))
		if err := crd.Install(t.Context(), srv.Client(), "test", first, second); err != nil {
			t.Fatal(err)
		}
		var sent map[string]any
		if err := json.Unmarshal(srv.Requests()[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"name": "webapps.example.com"}, sent["metadata"]); diff != "" {
			t.Errorf("metadata sent (-want +got):\n%s", diff)
		}
		if status, ok := sent["status"]; ok {
			t.Errorf("the status was sent: %v", status)
		}
		if err := crd.Install(t.Context(), srv.Client(), "test", nil); err == nil || err.Error() != "crd: definition 0 is nil" {
			t.Errorf("a nil definition gave %v", err)
		}
	})
}
