package kubetest

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/test/apiserver"
)

// pair is a server of each kind, both with the same content.
type pair struct {
	memory *kubetest.Server
	real   *apiserver.Server
}

// newPair starts a server of each kind, for this test alone.
func newPair(t *testing.T) *pair {
	t.Helper()
	real, err := apiserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &pair{memory: kubetest.Start(t, nil), real: real}
}

// call is a request, to be sent to both servers.
type call struct {
	method, path, contentType, body string
}

func (c call) String() string { return c.method + " " + c.path }

// request returns a request of c to a server, whose URL may be empty.
func (c call) request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "compare/1.0")
	if c.body != "" {
		r.Header.Set("Content-Type", c.contentType)
	}
	return r
}

// answer is what a server answers, without what differs from run to run.
type answer struct {
	Code     int
	Warnings []string
	Body     map[string]any
}

func (p *pair) askReal(t *testing.T, c call) answer {
	t.Helper()
	return inAnyOrder(p.exactReal(t, c))
}

func (p *pair) exactReal(t *testing.T, c call) answer {
	t.Helper()
	resp, err := p.real.HTTPClient().Do(c.request(t, p.real.URL()))
	if err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, resp)
}

func (p *pair) askMemory(t *testing.T, c call) answer {
	t.Helper()
	return inAnyOrder(p.exactMemory(t, c))
}

func (p *pair) exactMemory(t *testing.T, c call) answer {
	t.Helper()
	recorder := httptest.NewRecorder()
	p.memory.ServeHTTP(recorder, c.request(t, ""))
	return readAnswer(t, recorder.Result())
}

// compare sends a request to both servers, reports where the answers differ, and returns that
// of the real one.
func (p *pair) compare(t *testing.T, c call) answer {
	t.Helper()
	real, memory := p.askReal(t, c), p.askMemory(t, c)
	if diff := cmp.Diff(real, memory); diff != "" {
		t.Errorf("%v: answers differ (-real +kubetest):\n%s\nbody: %s", c, diff, c.body)
	}
	return real
}

// until asks the real server until it has what follows from an earlier request: ok says so of
// its answer.
func (p *pair) until(t *testing.T, c call, ok func(answer) bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		if ok(p.askReal(t, c)) {
			return
		}
		<-tick.C
	}
	t.Fatalf("%v: the real server does not come to answer as it should", c)
}

func readAnswer(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Code: resp.StatusCode, Warnings: resp.Header.Values("Warning")}
	if err := json.Unmarshal(data, &a.Body); err != nil {
		a.Body = map[string]any{"text": string(data)}
	}
	slices.Sort(a.Warnings)
	mask(a.Body)
	return a
}

// inAnyOrder returns an answer whose causes have an order of their own.
func inAnyOrder(a answer) answer {
	sortCauses(a.Body)
	return a
}

// quotedPattern is what differs from run to run in objects that an error quotes.
var quotedPattern = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time)\\*":\\*"[^"\\]*\\*"`)

// mask replaces what differs from run to run.
func mask(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			switch name {
			case "uid", "resourceVersion", "creationTimestamp", "lastTransitionTime", "time":
				v[name] = "masked"
			default:
				if text, ok := member.(string); ok {
					v[name] = quotedPattern.ReplaceAllString(text, `"${1}":"masked"`)
				}
				mask(member)
			}
		}
	case []any:
		for _, item := range v {
			mask(item)
		}
	}
}

// sortCauses gives the causes of a Status, which have any order, an order of their own. The
// message is made of them, so it says nothing more.
func sortCauses(status map[string]any) {
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	if len(causes) == 0 {
		return
	}
	status["message"] = "made of the causes"
	slices.SortFunc(causes, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}
