package tokens_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/tokens"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube", "github.com/go-kube/kube/resource", "github.com/go-kube/kube/kubeconfig",
		"github.com/go-kube/kube/internal/...", "github.com/go-kube/kube/k8s/...",
		"sigs.k8s.io/yaml/...", "go.yaml.in/yaml/v3/...", "golang.org/x/sync/...", "k8s.io/api/...",
	)
}

// issuer answers requests for tokens of build/uploader.
type issuer struct {
	asked *authenticationv1.TokenRequest
}

func (i *issuer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method+" "+req.URL.Path != "POST /api/v1/namespaces/build/serviceaccounts/uploader/token" {
		return answer(404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no such account"}`), nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var outer runtime.Unknown
	if err := outer.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
		return nil, err
	}
	i.asked = &authenticationv1.TokenRequest{}
	if err := i.asked.Unmarshal(outer.Raw); err != nil {
		return nil, err
	}
	given := *i.asked
	given.Status.Token = "very-secret"
	given.Status.ExpirationTimestamp.Time = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	text, err := json.Marshal(given)
	return answer(201, string(text)), err
}

func answer(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

func (i *issuer) client() *kube.Client {
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: i})
	if err != nil {
		panic(err)
	}
	return client
}

func TestRequest(t *testing.T) {
	for _, test := range []struct {
		name string
		opts *tokens.Options
		want authenticationv1.TokenRequestSpec
	}{
		{"nothing asked", nil, authenticationv1.TokenRequestSpec{}},
		{"all asked", &tokens.Options{Audiences: []string{"a"}, Lifetime: time.Hour, BoundTo: &tokens.Bound{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}},
			authenticationv1.TokenRequestSpec{Audiences: []string{"a"}, ExpirationSeconds: new(int64(3600)),
				BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := &issuer{}
			token, err := tokens.Request(t.Context(), i.client(), "build", "uploader", test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, i.asked.Spec); diff != "" {
				t.Error(diff)
			}
			if token.Value != "very-secret" || token.Expires.Year() != 2030 || len(token.Audiences) != len(test.want.Audiences) {
				t.Error(token)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		opts tokens.Options
		want string
	}{
		{tokens.Options{Lifetime: time.Minute}, "Options.Lifetime is 1m0s; the shortest is 10m0s"},
		{tokens.Options{Lifetime: -time.Hour}, "Options.Lifetime is -1h0m0s"},
		{tokens.Options{Lifetime: time.Hour + 1}, "counts whole seconds"},
		{tokens.Options{Audiences: []string{"a", ""}}, "has an entry that is empty"},
		{tokens.Options{BoundTo: &tokens.Bound{Kind: "Pod", Name: "p"}}, `needs APIVersion, Kind and Name; it is "", "Pod", "p"`},
	} {
		i := &issuer{}
		_, err := tokens.Request(t.Context(), i.client(), "build", "uploader", &test.opts)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "build/uploader") {
			t.Errorf("%v, want %s", err, test.want)
		}
		if i.asked != nil {
			t.Error("was sent")
		}
	}
	if _, err := tokens.Request(t.Context(), (&issuer{}).client(), "build", "nobody", nil); !errors.Is(err, kube.ErrNotFound) {
		t.Error(err)
	}
}

func TestTokensAreNotPrinted(t *testing.T) {
	token := &tokens.Token{Value: "very-secret"}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "token", token)
	for _, s := range []string{fmt.Sprint(token), fmt.Sprintf("%+v", token), fmt.Sprintf("%#v", token), fmt.Sprint(*token), fmt.Sprintf("%+v %#v %q %d", *token, *token, *token, *token), log.String()} {
		if strings.Contains(s, "very-secret") {
			t.Error(s)
		}
	}
}

func ExampleRequest() {
	client := (&issuer{}).client() // kube.Default(), outside of an example
	token, err := tokens.Request(context.Background(), client, "build", "uploader", &tokens.Options{
		Audiences: []string{"https://registry.example.com"},
		Lifetime:  time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token)
	fmt.Println(len(token.Value), token.Audiences)
	// Output:
	// Token{[redacted] until 2030-01-02T03:04:05Z}
	// 11 [https://registry.example.com]
}
