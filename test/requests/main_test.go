// Package requests_test runs what stands around every request against a real API server: who makes
// it, and what happens when the server refuses, warns, slows down or goes away.
package requests_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/authentication"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/test/apiserver"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is an API server that trusts an identity provider.
type world struct {
	*apiserver.Server
	issuer *issuer
}

var shared = sync.OnceValues(func() (w world, err error) {
	if w.issuer, err = newIssuer(); err != nil {
		return w, err
	}
	w.Server, err = apiserver.Start(context.Background(), &apiserver.Options{ExtraArgs: w.issuer.flags()})
	if err != nil {
		return w, errors.Join(err, w.issuer.Close())
	}
	started = &w
	return w, nil
})

var started *world // what TestMain has to stop

func TestMain(m *testing.M) {
	if path := os.Getenv(pluginEnv); path != "" {
		plugin(path)
		return
	}
	code := m.Run()
	if started != nil {
		if err := errors.Join(started.Stop(), started.issuer.Close()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func connect(t *testing.T) world {
	t.Helper()
	w, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// admin returns a client of the admin's.
func (w world) admin(t *testing.T) *kube.Client {
	t.Helper()
	return apiserver.NewClient(t, w)
}

// user returns the configuration of somebody with a certificate.
func (w world) user(t *testing.T, name string, groups ...string) *kube.Config {
	t.Helper()
	cert, key, err := w.IssueClient(name, groups, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Config{Server: w.URL(), CAData: w.CA(), CertData: cert, KeyData: key}
}

func newClient(t *testing.T, cfg *kube.Config) *kube.Client {
	t.Helper()
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// allow gives a user every right.
func (w world) allow(t *testing.T, user string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	if _, err := w.admin(t).All(rbac.ClusterRoleBindings).Apply(t.Context(), binding, "test", nil); err != nil {
		t.Fatal(err)
	}
}

// whoAmI asks the server who it takes the client for.
func whoAmI(ctx context.Context, client *kube.Client) (authenticationv1.UserInfo, error) {
	review, err := client.All(authentication.SelfSubjectReviews).Create(ctx, &authenticationv1.SelfSubjectReview{}, nil)
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

// eventually calls f until it says that what the server takes its time for is there.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !f() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("waited for %s in vain", what)
		}
	}
}
