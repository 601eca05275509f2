package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warned answers every request with the same Warning headers.
func warned(values ...string) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp := answer(req, 200)
		resp.Header["Warning"] = values
		return resp, nil
	})
}

func TestWarnings(t *testing.T) {
	var got []Warning
	tr := testTransport(t, &Config{
		OnWarning: func(w Warning) { got = append(got, w) },
		Transport: warned(`299 - "batch/v1beta1 CronJob is deprecated"`, `199 - "not for us"`,
			`299 agent "one \"quoted\"", 299 - "two"`, `broken`, `299 - ""`),
	})
	req := newRequest(t, tr, "GET", "/api", "")
	info := RequestInfo{Verb: "list", Resource: "cronjobs"}
	do(t, tr, req.WithContext(withRequestInfo(req.Context(), info)))
	info.Attempts = 1
	want := []Warning{
		{299, "-", "batch/v1beta1 CronJob is deprecated", info},
		{299, "agent", `one "quoted"`, info},
		{299, "-", "two", info},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWarningsAreLoggedOnce(t *testing.T) {
	logger, log := logged()
	tr := testTransport(t, &Config{Logger: logger, Transport: warned(`299 - "a"`, `299 - "b"`)})
	for range 3 {
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
	}
	if n := strings.Count(log.String(), "warning=a"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log)
	}
	if n := strings.Count(log.String(), "warning=b"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log)
	}
}

func TestWarningMemoryIsBounded(t *testing.T) {
	logger, _ := logged()
	l := &warningLog{logger: logger, seen: map[string]bool{}}
	for i := range 3 * mostWarnings {
		l.log(Warning{Text: fmt.Sprint(i)})
	}
	if len(l.seen) > mostWarnings {
		t.Errorf("%d texts are remembered", len(l.seen))
	}
}
