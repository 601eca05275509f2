package kube

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkChain is what retries, credentials, headers and warnings add to a request.
func BenchmarkChain(b *testing.B) {
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
	tr, err := newTransport(&Config{Server: "https://host", BearerToken: "abc", Transport: roundTripFunc(
		func(*http.Request) (*http.Response, error) { return resp, nil })})
	if err != nil {
		b.Fatal(err)
	}
	for _, method := range []string{"GET", "POST"} {
		b.Run(method, func(b *testing.B) {
			req, err := http.NewRequestWithContext(b.Context(), method, "https://host/api/v1/pods", nil)
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Accept", "application/vnd.kubernetes.protobuf,application/json")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tr.unary.RoundTrip(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
