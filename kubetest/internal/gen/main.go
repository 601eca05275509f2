// Command gen writes internal/fieldtypes/types.txt.gz from the OpenAPI documents of the release
// of Kubernetes that this module requires k8s.io/api of. It is run by go generate in the
// folder of package kubetest, and downloads the module k8s.io/kubernetes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const target = "internal/fieldtypes/types.txt.gz"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := kubernetes()
	if err != nil {
		return err
	}
	models, err := readModels(filepath.Join(folder, "api", "openapi-spec", "v3"))
	if err != nil {
		return err
	}
	archive, err := fieldTypes(models)
	if err != nil {
		return err
	}
	return os.WriteFile(target, archive, 0o644)
}

// kubernetes downloads the release of Kubernetes that the required k8s.io/api belongs to, v0.37.2
// to v1.37.2, and returns its folder.
func kubernetes() (string, error) {
	out, err := goCommand("list", "-m", "-f", "{{.Version}}", "k8s.io/api")
	if err != nil {
		return "", err
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "v0.")
	if !ok {
		return "", fmt.Errorf("k8s.io/api %s is no release: want v0.MINOR.PATCH", out)
	}
	out, err = goCommand("mod", "download", "-json", "k8s.io/kubernetes@v1."+version)
	if err != nil {
		return "", err
	}
	var module struct{ Dir, Error string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", fmt.Errorf("go mod download -json: %w", err)
	}
	if module.Error != "" {
		return "", errors.New(module.Error)
	}
	return module.Dir, nil
}

func goCommand(args ...string) ([]byte, error) {
	out, err := exec.Command("go", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
	}
	return out, err
}
