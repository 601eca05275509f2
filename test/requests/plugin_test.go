package requests_test

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"time"

	"github.com/go-kube/kube/test/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// pluginEnv makes this program an exec plugin; it names the server's kubeconfig.
	pluginEnv = "KUBE_TEST_PLUGIN"
	// pluginLogEnv names a file that gets a line for each run.
	pluginLogEnv = "KUBE_TEST_PLUGIN_LOG"

	pluginUser     = "plugin-user"
	pluginLifetime = 3 * time.Second
)

// plugin prints a client certificate that ends soon, as an exec plugin does.
func plugin(kubeconfig string) {
	if err := runPlugin(kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runPlugin(kubeconfig string) error {
	log, err := os.OpenFile(os.Getenv(pluginLogEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	fmt.Fprintln(log, "run")
	server, err := apiserver.Attach(context.Background(), kubeconfig)
	if err != nil {
		return err
	}
	end := time.Now().Add(pluginLifetime)
	cert, key, err := server.IssueClient(pluginUser, nil, pluginLifetime)
	if err != nil {
		return err
	}
	return json.MarshalWrite(os.Stdout, map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1",
		"kind":       "ExecCredential",
		"status": map[string]any{
			"expirationTimestamp":   metav1.NewTime(end),
			"clientCertificateData": string(cert),
			"clientKeyData":         string(key),
		},
	})
}
