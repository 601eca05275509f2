package kubetest

import (
	"encoding/json"
	"net/http"
	"runtime"

	apiversion "k8s.io/apimachinery/pkg/version"
)

// KubernetesVersion is the release of Kubernetes that servers behave as: the one that belongs
// to the required version of k8s.io/api.
const KubernetesVersion = "1.37.2"

// serveVersion answers /version.
func serveVersion(w http.ResponseWriter, rq *request) error {
	return rq.respondIndented(w, apiversion.Info{
		Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37",
		MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
		GitVersion: "v" + KubernetesVersion, BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
}

// respondIndented answers with v as JSON for people.
func (rq *request) respondIndented(w http.ResponseWriter, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(data)
	return nil
}
