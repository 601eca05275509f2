package cel

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

var update = flag.Bool("update", false, "write the verdicts of the server into the golden files")

func TestMain(m *testing.M) {
	flag.Parse()
	servers.Main(m)
}

// TestAgreement has a server and package crd/cel judge all pairs: both have to say what the
// golden files say.
func TestAgreement(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tables: %v", err)
	}
	total, refused := 0, 0
	for _, file := range files {
		tab := readTable(t, file)
		t.Run(tab.name, func(t *testing.T) {
			verdicts := tab.compare(t)
			tab.golden(t, verdicts)
			total += len(verdicts)
			for _, v := range verdicts {
				if v != "accepted\n" {
					refused++
				}
			}
		})
	}
	t.Logf("%d pairs, of which %d are refused", total, refused)
	if total < 200 {
		t.Errorf("there are %d pairs; they ought to be 200 or more", total)
	}
}

// compare judges the pairs of a table, and returns the verdicts of the server.
func (tab *table) compare(t *testing.T) (verdicts []string) {
	def := tab.definition()
	validator, err := cel.New(def, version)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, tab)
	for i, p := range tab.Pairs {
		name := fmt.Sprintf("pair-%d", i)
		want := s.ask(t, p, name)
		got, err := tab.judged(t.Context(), validator, p, name)
		if err != nil {
			t.Errorf("%v: %v", p, err)
		}
		if diff := gocmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%v: verdicts differ (-server +crd/cel):\n%s", p, diff)
		}
		verdicts = append(verdicts, want)
	}
	return verdicts
}

// golden compares verdicts with the golden file of the table.
func (tab *table) golden(t *testing.T, verdicts []string) {
	t.Helper()
	var text strings.Builder
	for i, p := range tab.Pairs {
		fmt.Fprintf(&text, "%v\n%s\n", p, verdicts[i])
	}
	compareGolden(t, filepath.Join("testdata", tab.name+".golden"), text.String())
}

// compareGolden compares a text with a golden file, or writes that.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (the flag -update writes it)", err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("verdicts are not those of %s (-want +got):\n%s", file, diff)
	}
}

// session asks a server about the objects of a table.
type session struct {
	table *table
	http  *http.Client
	url   string
}

// newSession installs the kind of a table.
func newSession(t *testing.T, tab *table) *session {
	t.Helper()
	server := servers.Shared(t)
	client := apiserver.NewClient(t, server)
	def := tab.definition()
	t.Cleanup(func() {
		if err := client.All(apiextensions.CustomResourceDefinitions).Delete(context.Background(), def.Name, nil); err != nil {
			t.Errorf("deleting %s: %v", def.Name, err)
		}
	})
	if err := crd.Install(t.Context(), client, "test", def); err != nil {
		t.Fatal(err)
	}
	return &session{table: tab, http: server.HTTPClient(), url: server.URL() + "/apis/" + group + "/"}
}

// ask returns the verdict of the server on a pair, which changes nothing but for its old object.
func (s *session) ask(t *testing.T, p pair, name string) string {
	t.Helper()
	object, err := s.table.named(p.Object, version, name)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	collection := version + "/" + s.table.name
	if p.Old == nil {
		return verdictOf(s.send(t, http.MethodPost, collection+"?dryRun=All", object))
	}
	old, err := s.table.named(p.Old, loose, name)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if status := s.send(t, http.MethodPost, loose+"/"+s.table.name, old); status.Status != metav1.StatusSuccess {
		t.Fatalf("%v: the old object is not taken: %v", p, status.Message)
	}
	path := collection + "/" + name
	if p.ToStatus {
		path += "/status"
	}
	return verdictOf(s.send(t, http.MethodPut, path+"?dryRun=All", s.withVersion(t, object, name)))
}

// withVersion gives an object the resourceVersion that an update needs.
func (s *session) withVersion(t *testing.T, object []byte, name string) []byte {
	t.Helper()
	_, body := s.do(t, http.MethodGet, loose+"/"+s.table.name+"/"+name, nil)
	var there metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &there); err != nil || there.ResourceVersion == "" {
		t.Fatalf("%v in %s", err, body)
	}
	var full map[string]any
	if err := json.Unmarshal(object, &full); err != nil {
		t.Fatal(err)
	}
	full["metadata"] = map[string]any{"name": name, "resourceVersion": there.ResourceVersion}
	out, err := marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// send returns the Status that a request is answered with, which is made for an object.
func (s *session) send(t *testing.T, method, path string, body []byte) metav1.Status {
	t.Helper()
	code, answer := s.do(t, method, path, body)
	if code < 300 {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	var status metav1.Status
	if err := json.Unmarshal(answer, &status); err != nil {
		t.Fatalf("%s %s: %d %s: %v", method, path, code, answer, err)
	}
	return status
}

func (s *session) do(t *testing.T, method, path string, body []byte) (code int, answer []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}
