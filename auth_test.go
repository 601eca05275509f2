package kube

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// gate lets requests in that carry the right Authorization, and remembers what they carried.
type gate struct {
	want string // empty lets everybody in
	seen []string
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	got := req.Header.Get("Authorization")
	g.seen = append(g.seen, got)
	if req.Body != nil {
		req.Body.Close()
	}
	if g.want != "" && got != g.want {
		return answer(req, 401), nil
	}
	return answer(req, 200), nil
}

func TestAuthorization(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"none", Config{}, ""},
		{"token", Config{BearerToken: "abc"}, "Bearer abc"},
		{"token with a newline", Config{BearerToken: "abc\n"}, "Bearer abc"},
		{"basic", Config{Username: "Aladdin", Password: "open sesame"}, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
		{"within the address", Config{Server: "https://Aladdin:open%20sesame@host"}, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &gate{}
			test.cfg.Transport = g
			tr := testTransport(t, &test.cfg)
			do(t, tr, newRequest(t, tr, "GET", "/api", ""))
			if g.seen[0] != test.want {
				t.Errorf("Authorization = %q, want %q", g.seen[0], test.want)
			}
			if tr.baseURL.User != nil {
				t.Error("credentials stayed in the address")
			}
		})
	}
}

// A request, or a middleware, that brings credentials keeps them, and is not repeated with others.
func TestOwnAuthorizationStays(t *testing.T) {
	g := &gate{want: "Bearer right"}
	tr := testTransport(t, &Config{Transport: g, BearerToken: "right"})
	req := newRequest(t, tr, "GET", "/api", "")
	req.Header.Set("Authorization", "Bearer own")
	if code, _ := do(t, tr, req); code != 401 || len(g.seen) != 1 || g.seen[0] != "Bearer own" {
		t.Errorf("status %d, sent %v", code, g.seen)
	}
}

func TestTokenFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		writeFile(t, path, "  one\n")
		logger, log := logged()
		g := &gate{}
		tr := testTransport(t, &Config{Transport: g, BearerTokenFile: path, BearerToken: "fallback", Logger: logger})
		request := func() string {
			do(t, tr, newRequest(t, tr, "GET", "/api", ""))
			return g.seen[len(g.seen)-1]
		}
		expect := func(when, want string) {
			t.Helper()
			if got := request(); got != "Bearer "+want {
				t.Errorf("%s: sent %q, want %q", when, got, want)
			}
		}
		expect("at first", "one")
		writeFile(t, path, "two\n")
		expect("within the minute", "one")
		time.Sleep(time.Minute)
		expect("after a minute", "two")
		os.Remove(path)
		time.Sleep(time.Minute)
		expect("with the file gone", "two")
		writeFile(t, path, "\n")
		time.Sleep(time.Minute)
		expect("with the file empty", "two")
		writeFile(t, path, "three")
		expect("until the next look", "two")
		time.Sleep(time.Minute)
		expect("after that", "three")
		if n := strings.Count(log.String(), "token file cannot be read"); n != 2 {
			t.Errorf("%d warnings, want 2:\n%s", n, log)
		}
		if strings.Contains(log.String(), "two") {
			t.Errorf("the log shows a token:\n%s", log)
		}
	})
}

// A token beside the file stands in until the file is there.
func TestTokenStandsInForFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		g := &gate{}
		tr := testTransport(t, &Config{Transport: g, BearerTokenFile: path, BearerToken: "given\n"})
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		writeFile(t, path, "read")
		time.Sleep(time.Minute)
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		if diff := cmp.Diff([]string{"Bearer given", "Bearer read"}, g.seen); diff != "" {
			t.Error(diff)
		}
	})
}

// A 401 makes the file be read again, and the request be sent once more if the token is another.
func TestUnauthorizedRefreshesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		writeFile(t, path, "one")
		g := &gate{want: "Bearer one"}
		tr := testTransport(t, &Config{Transport: g, BearerTokenFile: path})
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))

		g.want, g.seen = "Bearer two", nil
		if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "body")); code != 401 || len(g.seen) != 1 {
			t.Errorf("same token: status %d, sent %v", code, g.seen)
		}
		writeFile(t, path, "two")
		g.seen = nil
		if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "body")); code != 200 {
			t.Errorf("new token: status %d", code)
		}
		if diff := cmp.Diff([]string{"Bearer one", "Bearer two"}, g.seen); diff != "" {
			t.Error(diff)
		}

		writeFile(t, path, "three")
		g.want, g.seen = "Bearer four", nil
		if code, _ := do(t, tr, newRequest(t, tr, "GET", "/api", "")); code != 401 || len(g.seen) != 2 {
			t.Errorf("wrong twice: status %d, sent %v", code, g.seen)
		}

		writeFile(t, path, "four")
		g.seen = nil
		req := newRequest(t, tr, "POST", "/api", "")
		req.Body = http.NoBody
		req.GetBody = nil
		if code, _ := do(t, tr, req); code != 200 {
			t.Errorf("no body: status %d, sent %v", code, g.seen)
		}
	})
}

func TestCredentialErrors(t *testing.T) {
	dir := t.TempDir()
	empty, broken := filepath.Join(dir, "empty"), filepath.Join(dir, "broken")
	writeFile(t, empty, "\n")
	writeFile(t, broken, "two\nlines")
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"missing file", Config{BearerTokenFile: filepath.Join(dir, "missing")}, "Config.BearerTokenFile: open " + dir + "/missing: no such file"},
		{"empty file", Config{BearerTokenFile: empty}, "Config.BearerTokenFile: " + empty + " is empty"},
		{"not a token", Config{BearerTokenFile: broken}, broken + " is not a token: byte 3 of it is 0x0a"},
		{"token with a blank", Config{BearerToken: "a b"}, "Config.BearerToken is not a token: byte 1"},
		{"blank token", Config{BearerToken: " \n"}, "Config.BearerToken is empty"},
		{"colon", Config{Username: "a:b"}, `Config.Username "a:b" holds a colon`},
		{"two kinds", Config{Username: "a", BearerToken: "b"}, "both a bearer token and a username"},
		{"impersonation of nobody", Config{Impersonate: Impersonation{Groups: []string{"g"}}}, "without a User"},
		{"newline in a group", Config{Impersonate: Impersonation{User: "u", Groups: []string{"a\nb"}}}, `header Impersonate-Group cannot have the value "a\nb"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Server = "https://host"
			_, err := newTransport(&test.cfg)
			if err == nil || !strings.HasPrefix(err.Error(), "kube: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
		})
	}
}

func TestImpersonation(t *testing.T) {
	var got http.Header
	tr := testTransport(t, &Config{
		UserAgent: "test/1",
		Impersonate: Impersonation{
			User: "user1@example.com", UID: "42", Groups: []string{"system:authenticated", "team a/operators"},
			Extra: map[string][]string{"acme.example.com/reason": {"incident 42", "größer: 100%"}, "scopes": {"view"}, "100%": {"x"}, "none": nil},
		},
		Transport: roundTripFunc(func(req *http.Request) (*http.Response, error) {
			got = req.Header
			return answer(req, 200), nil
		}),
	})
	do(t, tr, newRequest(t, tr, "GET", "/api", ""))
	want := http.Header{
		"User-Agent":       {"test/1"},
		"Impersonate-User": {"user1@example.com"},
		"Impersonate-Uid":  {"42"},
		"Impersonate-Group": {
			"system:authenticated", "team a/operators",
		},
		"Impersonate-Extra-Acme.example.com%2freason": {"incident 42", "größer: 100%"},
		"Impersonate-Extra-Scopes":                    {"view"},
		"Impersonate-Extra-100%25":                    {"x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	req := newRequest(t, tr, "GET", "/api", "")
	req.Header.Set("Impersonate-User", "other")
	do(t, tr, req)
	if diff := cmp.Diff(http.Header{"User-Agent": {"test/1"}, "Impersonate-User": {"other"}}, got); diff != "" {
		t.Errorf("a request that impersonates by itself:\n%s", diff)
	}
}
