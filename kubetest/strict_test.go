package kubetest_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-kube/kube/kubetest"
)

func TestStrict(t *testing.T) {
	const (
		pods    = "/api/v1/namespaces/default/pods"
		plain   = `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		odd     = `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.a","lun":0}}]}}`
		drivers = "/apis/storage.k8s.io/v1/csidrivers"
		driver  = `{"metadata":{"name":"d.example.com"},"spec":{}}`
	)
	for _, c := range []struct {
		name, path, body, want string
		strict                 bool
	}{
		{"validated", pods, plain, "", true},
		{"field", pods, odd, "a real server validates spec.volumes[0].iscsi, kubetest does not", true},
		{"kind", drivers, driver, "a real server validates this kind, kubetest does not", true},
		{"off", drivers, driver, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			srv, err := kubetest.NewServer(&kubetest.Options{Strict: c.strict, Logger: logger})
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, r)
			if w.Code != http.StatusCreated {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if got := log.String(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("the log has %q, want %q", got, c.want)
			}
		})
	}
}
