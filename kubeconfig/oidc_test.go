package kubeconfig_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/kubeconfig"
)

func jwt(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func jwtUntil(end time.Time, note string) string {
	return jwt(fmt.Sprintf(`{"exp":%d,"note":%q}`, end.Unix(), note))
}

// issuer is an identity provider that gives out the n-th token for the refresh token n.
type issuer struct {
	*httptest.Server
	inBody  bool            // takes the client's secret in the body only
	public  bool            // has clients without a secret
	once    map[string]bool // refresh tokens that were used; nil takes them again and again
	answer  string
	asked   int // for tokens
	refused int
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /realm/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"token_endpoint":%q}`, i.URL+"/token")
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.asked++
		user, password, basic := r.BasicAuth()
		if i.inBody {
			user, password = r.FormValue("client_id"), r.FormValue("client_secret")
		}
		good := basic != i.inBody && user == "kube%3Actl" && password == "s%2Fcret"
		if i.inBody {
			good = user == "kube:ctl" && password == "s/cret"
		}
		if i.public {
			good = !basic && r.FormValue("client_id") == "kube:ctl" && !r.Form.Has("client_secret")
		}
		if !good {
			i.refused++
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		if r.FormValue("grant_type") != "refresh_token" || r.FormValue("refresh_token") == "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"no refresh token"}`)
			return
		}
		if i.answer != "" {
			fmt.Fprint(w, i.answer)
			return
		}
		if used := r.FormValue("refresh_token"); i.once != nil {
			if i.once[used] {
				i.refused++
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":"invalid_grant"}`)
				return
			}
			i.once[used] = true
		}
		next := r.FormValue("refresh_token") + "+"
		fmt.Fprintf(w, `{"id_token":%q,"refresh_token":%q}`, jwtUntil(time.Now().Add(time.Hour), next), next)
	})
	i.Server = httptest.NewUnstartedServer(mux)
	i.Config.ErrorLog = log.New(io.Discard, "", 0)
	i.StartTLS()
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

func (i *issuer) settings(pairs ...string) *kubeconfig.Resolved {
	return provider("oidc", append([]string{
		"idp-issuer-url", i.URL + "/realm", "client-id", "kube:ctl", "client-secret", "s/cret", "refresh-token", "r",
		"idp-certificate-authority-data", base64.StdEncoding.EncodeToString(i.ca()),
	}, pairs...)...)
}

func TestOIDCStoredToken(t *testing.T) {
	end := time.Now().Add(time.Hour)
	token := jwtUntil(end, "stored")
	got, err := fetch(t, provider("oidc", "id-token", token), nil)
	if err != nil || string(got.Token) != token || got.Expires.Unix() != end.Unix() {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOIDCRefresh(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		i := newIssuer(t)
		i.inBody = inBody
		source, err := i.settings("id-token", jwtUntil(time.Now().Add(5*time.Second), "ending")).Credentials(nil)
		if err != nil {
			t.Fatal(err)
		}
		first, err := source(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := source(t.Context(), first)
		if err != nil || second.Token == first.Token {
			t.Fatalf("the rejected token again: %v", err)
		}
		claims, _ := base64.RawURLEncoding.DecodeString(strings.Split(string(second.Token), ".")[1])
		if !strings.Contains(string(claims), `"r++"`) {
			t.Errorf("refresh tokens are not followed: %s", claims)
		}
		if want := map[bool]int{false: 2, true: 3}[inBody]; i.asked != want {
			t.Errorf("in body %t: %d requests for tokens, want %d: what works is remembered", inBody, i.asked, want)
		}
	}
}

// A client without a secret does not send an empty one.
func TestOIDCPublicClient(t *testing.T) {
	i := newIssuer(t)
	i.public = true
	if got, err := fetch(t, i.settings("client-secret", ""), nil); err != nil || got.Token == "" || i.asked != 1 {
		t.Errorf("%v, %v, after %d requests for a token", got, err, i.asked)
	}
}

func TestOIDCErrors(t *testing.T) {
	i := newIssuer(t)
	for _, test := range []struct {
		name     string
		provider *kubeconfig.Resolved
		answer   string
		want     string
	}{
		{"nothing", provider("oidc"), "", "neither an id-token nor a refresh-token"},
		{"no issuer", provider("oidc", "refresh-token", "r"), "", "no idp-issuer-url"},
		{"no client", provider("oidc", "refresh-token", "r", "idp-issuer-url", "https://a"), "", "no client-id"},
		{"plain issuer", i.settings("idp-issuer-url", "http://a"), "", `idp-issuer-url "http://a" is not an https address`},
		{"no base64", i.settings("idp-certificate-authority-data", "%"), "", "idp-certificate-authority-data is not base64"},
		{"no certificate", i.settings("idp-certificate-authority-data", "YWJj"), "", "holds no PEM certificate"},
		{"other authority", i.settings("idp-certificate-authority-data", "", "idp-certificate-authority", "/no/such/file"), "", "idp-certificate-authority: open /no/such/file"},
		{"system's authorities", i.settings("idp-certificate-authority-data", ""), "", "certificate"},
		{"no issuer there", i.settings("idp-issuer-url", i.URL+"/other"), "", "the identity provider answered 404"},
		{"wrong secret", i.settings("client-secret", "hunter2"), "", "401 Unauthorized: invalid_client"},
		{"no token", i.settings(), `{"access_token":"hunter2"}`, "sent no id_token"},
		{"no JWT", i.settings(), `{"id_token":"hunter2"}`, "the identity provider's id_token: it is not a JWT: 1 parts"},
		{"no JSON", i.settings(), `hunter2`, "the answer of /token is not as expected"},
		{"ended", provider("oidc", "id-token", jwtUntil(time.Now(), "")), "", "the id-token has ended, and there is no refresh-token"},
		{"two parts", provider("oidc", "id-token", "a.b"), "", "id-token: it is not a JWT: 2 parts between dots"},
		{"bad base64", provider("oidc", "id-token", "a.%.c"), "", "the middle part is not base64"},
		{"no end", provider("oidc", "id-token", jwt("{}")), "", "it says no time of its end"},
		{"no number", provider("oidc", "id-token", jwt(`{"exp":"x"}`)), "", "not a JSON object with a number exp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			i.answer = test.answer
			_, err := fetch(t, test.provider, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// Refreshed tokens go into the file that the user came from, and nothing else there changes.
func TestOIDCWritesBack(t *testing.T) {
	i := newIssuer(t)
	dir := t.TempDir()
	path, link := filepath.Join(dir, "config"), filepath.Join(dir, "link")
	if err := os.WriteFile(filepath.Join(dir, "idp.crt"), i.ca(), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `
clusters: [{name: c, cluster: {server: 'https://a', certificate-authority: ca.crt}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
later: {kept: true}
users:
- {name: other, user: {token: abc}}
- name: u
  user:
    auth-provider:
      name: oidc
      config: {idp-issuer-url: '` + i.URL + `/realm', client-id: 'kube:ctl', client-secret: s/cret, refresh-token: r, idp-certificate-authority: idp.crt, extra: kept}
`
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("config", link); err != nil {
		t.Fatal(err)
	}
	c, err := kubeconfig.Load(link)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fetch(t, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 3 {
		t.Errorf("files are left behind: %v", entries)
	}
	after, err := kubeconfig.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	config := after.User("u").User.AuthProvider.Config
	if config["id-token"] != got.Token || config["refresh-token"] != "r+" || config["extra"] != "kept" ||
		config["idp-certificate-authority"] != "idp.crt" || after.User("other").User.Token != "abc" ||
		string(after.Other["later"]) != `{"kept":true}` || after.Cluster("c").Cluster.CertificateAuthority != "ca.crt" {
		written, _ := os.ReadFile(path)
		t.Errorf("written:\n%s", written)
	}
	// A second program that starts from the file needs no refresh.
	asked := i.asked
	r, err = after.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := fetch(t, r, nil); err != nil || again.Token != got.Token || i.asked != asked {
		t.Errorf("%v, %v", again, err)
	}
}

// Two programs that use one kubeconfig do not lose each other's tokens, though each refresh token can
// be used once.
func TestOIDCSharedKubeconfig(t *testing.T) {
	i := newIssuer(t)
	i.once = map[string]bool{}
	path := filepath.Join(t.TempDir(), "config")
	text := `
clusters: [{name: c, cluster: {server: 'https://a'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users:
- name: u
  user:
    auth-provider:
      name: oidc
      config: {idp-issuer-url: '` + i.URL + `/realm', client-id: 'kube:ctl', client-secret: s/cret, refresh-token: r, idp-certificate-authority-data: ` + base64.StdEncoding.EncodeToString(i.ca()) + `}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program := func() kubeconfig.CredentialFunc {
		c, err := kubeconfig.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		source, err := r.Credentials(nil)
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	get := func(source kubeconfig.CredentialFunc, rejected *kubeconfig.Credential) *kubeconfig.Credential {
		c, err := source(t.Context(), rejected)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two := program(), program()
	first := get(one, nil) // with r, which leaves r+ in the file
	second := get(two, nil)
	if second.Token != first.Token || i.asked != 1 {
		t.Errorf("the token in the file is not used: asked %d times", i.asked)
	}
	third := get(two, second) // with r+, which leaves r++
	fourth := get(one, first)
	if fourth.Token != third.Token || i.asked != 2 {
		t.Errorf("the token in the file is not used when the old one is refused: asked %d times", i.asked)
	}
	if last := get(one, fourth); last.Token == third.Token || i.asked != 3 || i.refused != 0 {
		t.Errorf("asked %d times, refused %d times", i.asked, i.refused)
	}

	// A token that somebody used up without a trace in the file. That is the reason, and not the second way
	// of naming the client, which this provider refuses.
	i.once["r+++"] = true
	if _, err := one(t.Context(), get(one, nil)); err == nil || !strings.Contains(err.Error(), "400 Bad Request: invalid_grant; the refresh-token has ended or was used up") {
		t.Errorf("error = %v, want that one has to log in", err)
	}
	delete(i.once, "r+++")
	i.refused = 0

	// A file that cannot be written, as there can be no lock beside one with a name this long, keeps a
	// token that was used up, which nobody must go back to.
	readOnly := filepath.Join(filepath.Dir(path), strings.Repeat("x", 255))
	if err := os.Rename(path, readOnly); err != nil {
		t.Fatal(err)
	}
	path = readOnly
	five := program()
	seen := map[kubeconfig.Secret]bool{}
	for c := get(five, nil); len(seen) < 3; c = get(five, c) {
		if refreshed := len(seen) > 0; refreshed != (c.Warning != nil && strings.Contains(c.Warning.Error(), "refreshed tokens could not be written back")) {
			t.Errorf("token %d comes with the warning %v", len(seen), c.Warning)
		}
		if seen[c.Token] {
			t.Fatal("a refused token again")
		}
		seen[c.Token] = true
	}
	if i.refused != 0 {
		t.Errorf("%d used-up tokens were sent", i.refused)
	}
}
