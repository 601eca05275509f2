package controller_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tenantOperator is a user who may do nothing but what a test grants.
const tenantOperator = "tenant-operator"

// asTenantOperator returns a client of that user, of a name of the test's own.
func asTenantOperator(t *testing.T, server *apiserver.Server, user string) *kube.Client {
	t.Helper()
	cert, key, err := server.IssueClient(user, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return apiserver.NewClient(t, server, func(cfg *kube.Config) {
		cfg.BearerToken, cfg.CertData, cfg.KeyData = "", cert, key
	})
}

// grant gives a user a Role for ConfigMaps and Secrets in a namespace.
func grant(t *testing.T, admin *kube.Client, namespace, user string) {
	t.Helper()
	create(t, admin.Namespaced(rbac.Roles, namespace), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "list", "watch", "create", "patch"},
		}},
	})
	create(t, admin.Namespaced(rbac.RoleBindings, namespace), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
	})
}

// copying returns a controller that keeps a Secret for each ConfigMap called settings.
func copying(client *kube.Client, namespaces reflector.Namespaces, log *slog.Logger) *controller.Controller[corev1.ConfigMap] {
	ctl := controller.New(client.All(core.ConfigMaps), func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
		if cm.Name != "settings" {
			return controller.Await(), nil
		}
		_, err := client.Namespaced(core.Secrets, cm.Namespace).Apply(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "settings", OwnerReferences: []metav1.OwnerReference{core.ConfigMaps.ControllerOwner(cm)}},
			StringData: cm.Data,
		}, tenantOperator, nil)
		return controller.Await(), err
	}, &controller.Options{Namespaces: namespaces, Logger: log})
	ctl.Owns(client.All(core.Secrets))
	return ctl
}

func settings(t *testing.T, admin *kube.Client, namespace string) {
	t.Helper()
	create(t, admin.Namespaced(core.ConfigMaps, namespace), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "b"}})
}

func copied(t *testing.T, admin *kube.Client, namespace string) {
	t.Helper()
	await(t, admin.Namespaced(core.Secrets, namespace), "settings", func(s *corev1.Secret) bool { return s != nil && string(s.Data["a"]) == "b" })
}

// logged collects lines of a log, and has somebody wait for one.
type logged struct {
	mu    sync.Mutex
	lines strings.Builder
	more  chan struct{} // closed at the next line
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return l.lines.Write(p)
}

func (l *logged) await(t *testing.T, words ...string) {
	t.Helper()
	timeout := time.After(patience)
	for {
		l.mu.Lock()
		text, more := l.lines.String(), l.more
		l.mu.Unlock()
		for line := range strings.Lines(text) {
			if containsAll(line, words) {
				return
			}
		}
		select {
		case <-more:
		case <-timeout:
			t.Fatalf("no line of the log has all of %q:\n%s", words, text)
		}
	}
}

func containsAll(line string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}

// An operator that may read a few namespaces, each by a Role of its own, and nothing of the cluster. One that it
// may not read yet holds up no other, is named, and joins as soon as there is a Role.
func TestRolesInSeveralNamespaces(t *testing.T) {
	server := servers.Real(t, "there is no RBAC")
	admin := connect(t, server)
	red, blue, green := server.NewNamespace(t), server.NewNamespace(t), server.NewNamespace(t)
	user := tenantOperator + "-" + red
	grant(t, admin, red, user)
	grant(t, admin, blue, user)
	client := asTenantOperator(t, server, user)
	if _, err := client.All(core.ConfigMaps).List(t.Context(), nil); !errors.Is(err, kube.ErrForbidden) {
		t.Fatalf("a list of all namespaces: %v, want it to be forbidden", err)
	}
	log := &logged{more: make(chan struct{})}
	set := reflector.NewNamespaceSet(red, blue)
	run(t, copying(client, set, slog.New(slog.NewTextHandler(log, nil))))
	settings(t, admin, red)
	settings(t, admin, blue)
	settings(t, admin, green)
	copied(t, admin, red)
	copied(t, admin, blue)

	if err := set.Set(blue, green); err != nil {
		t.Fatal(err)
	}
	log.await(t, "forbidden", green, "configmaps")
	if err := admin.Namespaced(core.Secrets, blue).Delete(t.Context(), "settings", nil); err != nil {
		t.Fatal(err)
	}
	copied(t, admin, blue)
	grant(t, admin, green, user)
	copied(t, admin, green)

	// Red has left: what is deleted there is not made again.
	if err := admin.Namespaced(core.Secrets, red).Delete(t.Context(), "settings", nil); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{blue, green} { // whatever comes late would have come before this
		if err := admin.Namespaced(core.Secrets, namespace).Delete(t.Context(), "settings", nil); err != nil {
			t.Fatal(err)
		}
		copied(t, admin, namespace)
	}
	if _, found, err := admin.Namespaced(core.Secrets, red).Lookup(t.Context(), "settings"); err != nil || found {
		t.Errorf("the Secret in the namespace that left: found %v, %v", found, err)
	}
}

// An operator of the namespaces with a label. It may read the list of them, and has a Role in each.
func TestRolesInLabelledNamespaces(t *testing.T) {
	server := servers.Real(t, "there is no RBAC")
	admin := connect(t, server)
	red, blue := server.NewNamespace(t), server.NewNamespace(t)
	user := tenantOperator + "-" + red
	create(t, admin.All(rbac.ClusterRoles), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list", "watch"}}},
	})
	create(t, admin.All(rbac.ClusterRoleBindings), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
	})
	grant(t, admin, red, user)
	grant(t, admin, blue, user)
	label := func(namespace string, value any) {
		patch := kube.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"tenant-of": value}}})
		if _, err := admin.All(core.Namespaces).Patch(t.Context(), namespace, patch, nil); err != nil {
			t.Fatal(err)
		}
	}
	client := asTenantOperator(t, server, user)
	label(red, user)
	run(t, copying(client, reflector.SelectNamespaces(client, "tenant-of="+user), nil))
	settings(t, admin, red)
	settings(t, admin, blue)
	copied(t, admin, red)
	label(blue, user)
	copied(t, admin, blue)
}
