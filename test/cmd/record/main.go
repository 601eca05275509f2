// Command record writes the files of kubetest/internal/recorded: what a real API server with
// default settings says about the kinds that are part of Kubernetes. It runs such a server for
// that, and is itself run in the folder of this module:
//
//	go run ./cmd/record
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/test/apiserver"
)

const target = "../kubetest/internal/recorded"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	server, err := apiserver.Start(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := server.Stop(); err == nil {
			err = stopErr
		}
	}()
	config, err := kube.ConfigFromKubeconfig(server.Kubeconfig(), nil)
	if err != nil {
		return err
	}
	client, err := kube.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	r := &recorder{client: client}
	if err := write(ctx, "columns.json.gz", r.columns); err != nil {
		return err
	}
	return write(ctx, "openapi.zip", r.openAPI) // which makes kinds of its own in the end
}

func write(ctx context.Context, name string, record func(context.Context) ([]byte, error)) error {
	data, err := record(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Println(name, len(data), "bytes")
	return os.WriteFile(filepath.Join(target, name), data, 0o644)
}

// recorder asks a server.
type recorder struct{ client *kube.Client }

// get returns the body of the answer to GET path.
func (r *recorder) get(ctx context.Context, path, accept string) ([]byte, error) {
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	rq.Header.Set("Accept", accept)
	response, err := r.client.Do(rq)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s\n%s", path, response.Status, data)
	}
	return data, err
}
