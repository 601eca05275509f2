package kubetest_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/kubetest"
)

var update = flag.Bool("update", false, "record the answers of the real API server that KUBE_TEST_SERVER_KUBECONFIG names, which has to be fresh")

// TestWire sends the requests of testdata/wire, and compares the answers with those that a real
// API server has given. Each file is a scenario for a fresh server: a txtar archive whose files
// are requests ("METHOD /path", lines "@Header: value", a body) and answers ("CODE", the same)
// in turn. What differs from run to run (uids, times, resource versions) is replaced by labels,
// which requests can use as well: $UID-1, $RV-2, $CONTINUE-1; $LAST is the last resource version of an object.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			if *update {
				record(t, file)
				return
			}
			synctest.Test(t, func(t *testing.T) { replay(t, file) })
		})
	}
}

func replay(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	srv := kubetest.Start(t, nil)
	m := newMask(archive)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		request, want := archive.Files[i], archive.Files[i+1]
		rec := httptest.NewRecorder()
		r := m.request(t, request)
		srv.ServeHTTP(rec, r)
		if r.Method == http.MethodHead {
			rec.Body.Reset() // as net/http does
		}
		got := m.answer(t, rec.Result())
		if diff := cmp.Diff(format(want), format(got)); diff != "" {
			t.Errorf("%s: answer differs from the real server's (-real +kubetest):\n%s", request.Name, diff)
		}
	}
}

func format(f txtar.File) string { return f.Name + "\n" + string(f.Data) }

// record sends the requests of a scenario to the real server, and writes its answers.
func record(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	real := connect(t)
	m := newMask(archive)
	recorded := &txtar.Archive{Comment: archive.Comment}
	for _, request := range archive.Files {
		if !strings.Contains(request.Name, "/") {
			continue // an old answer
		}
		recorded.Files = append(recorded.Files, request, m.answer(t, real.send(t, m, request)))
	}
	if err := os.WriteFile(file, txtar.Format(recorded), 0o644); err != nil {
		t.Fatal(err)
	}
}

// realServer is the server to record.
type realServer struct {
	client *http.Client
	host   string
}

// send sends a request, again and again until the answer has the text that a header "@Until"
// names: a real server takes its time for what follows from a request.
func (real realServer) send(t *testing.T, m *mask, request txtar.File) *http.Response {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for range 300 {
		r := m.request(t, request)
		r.URL.Scheme, r.URL.Host, r.Host, r.RequestURI = "https", real.host, "", ""
		resp, err := real.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(r.Header.Get("Until"))) {
			return resp
		}
		<-pause.C
	}
	t.Fatalf("%s: the real server does not answer with what @Until says", request.Name)
	return nil
}

func connect(t *testing.T) realServer {
	t.Helper()
	data, err := os.ReadFile(os.Getenv("KUBE_TEST_SERVER_KUBECONFIG"))
	if err != nil {
		t.Fatalf("-update needs a real server in KUBE_TEST_SERVER_KUBECONFIG: %v", err)
	}
	var config struct {
		Clusters []struct{ Cluster struct{ Server string } }
		Users    []struct {
			Name string
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	for _, u := range config.Users {
		if u.Name != "admin" {
			continue
		}
		cert, err := tls.X509KeyPair(u.User.Cert, u.User.Key)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true}, DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		return realServer{&http.Client{Transport: transport}, strings.TrimPrefix(config.Clusters[0].Cluster.Server, "https://")}
	}
	t.Fatal("no user admin in the kubeconfig")
	return realServer{}
}

// mask replaces what differs from run to run by labels.
type mask struct {
	keepManaged bool
	labels      map[string]string // by value
	values      map[string]string // by label
	counts      map[string]int
}

func newMask(archive *txtar.Archive) *mask {
	return &mask{
		keepManaged: bytes.Contains(archive.Comment, []byte("with managedFields")),
		labels:      map[string]string{}, values: map[string]string{}, counts: map[string]int{},
	}
}

// label returns the label of a value.
func (m *mask) label(kind, value string) string {
	if l, ok := m.labels[kind+value]; ok {
		return l
	}
	m.counts[kind]++
	l := fmt.Sprintf("%s-%d", kind, m.counts[kind])
	m.labels[kind+value], m.values[l] = l, value
	return l
}

var labelPattern = regexp.MustCompile(`\$[A-Z]+(-[0-9]+)?`)

// request makes a request of a file.
func (m *mask) request(t *testing.T, f txtar.File) *http.Request {
	expand := func(s string) string {
		return labelPattern.ReplaceAllStringFunc(s, func(l string) string {
			v, ok := m.values[l[1:]]
			if !ok {
				t.Fatalf("%s: there is no %s yet", f.Name, l)
			}
			return v
		})
	}
	method, target, ok := strings.Cut(expand(f.Name), " ")
	if !ok {
		t.Fatalf("%q is no request", f.Name)
	}
	headers, body := splitHeaders(expand(string(f.Data)))
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("User-Agent", "wire/1.0")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		r.Header.Set(k, v)
	}
	return r
}

func splitHeaders(s string) (headers []string, body string) {
	for strings.HasPrefix(s, "@") {
		line, rest, _ := strings.Cut(s, "\n")
		headers, s = append(headers, line[1:]), rest
	}
	return headers, strings.TrimSuffix(s, "\n")
}

// answer returns an answer as a file.
func (m *mask) answer(t *testing.T, resp *http.Response) txtar.File {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	contentType := resp.Header.Get("Content-Type")
	if contentType != "application/json" {
		fmt.Fprintf(&b, "@Content-Type: %s\n", contentType)
	}
	for _, name := range []string{"Warning", "Retry-After", "Allow"} {
		for _, v := range resp.Header.Values(name) {
			fmt.Fprintf(&b, "@%s: %s\n", name, m.text(v))
		}
	}
	if contentType == "application/yaml" {
		if body, err = yaml.YAMLToJSON(body); err != nil {
			t.Fatal(err)
		}
	} else if contentType != "application/json" {
		b.WriteString(m.text(string(body)))
		if !strings.HasSuffix(string(body), "\n") {
			b.WriteString("\n")
		}
		return txtar.File{Name: fmt.Sprint(resp.StatusCode), Data: []byte(b.String())}
	}
	documents := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	for {
		document, err := documents.ReadValue()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no JSON: %v: %s", err, body)
		}
		b.WriteString(m.json(t, string(document)))
	}
	return txtar.File{Name: fmt.Sprint(resp.StatusCode), Data: []byte(b.String())}
}

// json returns a document indented, with its members in their order.
func (m *mask) json(t *testing.T, line string) string {
	dec := jsontext.NewDecoder(strings.NewReader(line))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	isList := strings.Contains(line, `"items":[`)
	isBookmark := strings.HasPrefix(line, `{"type":"BOOKMARK"`)
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no JSON: %v: %s", err, line)
		}
		tok = tok.Clone()
		if tok.Kind() == '"' && isName(dec) && tok.String() == "managedFields" && !m.keepManaged {
			if err := dec.SkipValue(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if tok.Kind() == '"' && isName(dec) {
			tok = jsontext.String(m.text(tok.String())) // such as k:{"uid":"…"} in managedFields
		}
		if tok.Kind() == '"' && !isName(dec) {
			pointer, value := string(dec.StackPointer()), tok.String()
			if isBookmark && strings.HasSuffix(pointer, "/resourceVersion") {
				value = "BOOKMARKRV" // of the whole server
			} else {
				value = m.value(pointer, value, isList)
			}
			tok = jsontext.String(value)
		}
		if err := enc.WriteToken(tok); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func isName(dec *jsontext.Decoder) bool {
	kind, n := dec.StackIndex(dec.StackDepth())
	return kind == '{' && n%2 == 1
}

var (
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z`)
	namePattern = regexp.MustCompile(`\bgen-[a-z0-9]{5}\b`)
	// binaryPattern is what a real server that was built for tests calls itself.
	binaryPattern = regexp.MustCompile(`kube-apiserver-[0-9.]+-[0-9a-f]{16}`)
	nowPattern    = regexp.MustCompile(`(current: |version: [0-9]+ \()[0-9]+`)
	rvPattern     = regexp.MustCompile(`(the ResourceVersion in record \(|"resourceVersion\\*":\\*")[0-9]+`)
)

// value masks a string that stands at a pointer.
func (m *mask) value(pointer, s string, isList bool) string {
	switch {
	case isList && pointer == "/metadata/resourceVersion":
		m.values["LISTRV-1"] = s
		return "LISTRV"
	case strings.HasSuffix(pointer, "/resourceVersion") && s != "" && s != "0":
		m.values["LAST"] = s
		return m.label("RV", s)
	case strings.HasSuffix(pointer, "/metadata/continue") && s != "":
		l := m.label("CONTINUE", s)
		return l + " " + m.token(s)
	}
	return m.text(s)
}

// token shows what is in a continue token.
func (m *mask) token(s string) string {
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "no base64"
	}
	var token struct {
		V     string
		RV    int64
		Start string
	}
	if err := json.Unmarshal(data, &token, json.MatchCaseInsensitiveNames(true)); err != nil {
		return err.Error()
	}
	rv := "RV"
	if token.RV < 0 {
		rv = fmt.Sprint(token.RV)
	}
	return fmt.Sprintf("%s %s %q", token.V, rv, token.Start)
}

func (m *mask) text(s string) string {
	s = uuidPattern.ReplaceAllStringFunc(s, func(u string) string { return m.label("UID", u) })
	s = timePattern.ReplaceAllString(s, "TIME")
	s = namePattern.ReplaceAllString(s, "gen-XXXXX")
	s = binaryPattern.ReplaceAllString(s, "kube-apiserver")
	s = nowPattern.ReplaceAllString(s, "${1}NOW")
	return rvPattern.ReplaceAllString(s, "${1}RV")
}
