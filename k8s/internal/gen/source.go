package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// source says where the inputs and the output are.
type source struct {
	root        string // folder of the main module
	kubernetes  string // folder of k8s.io/kubernetes
	release     string // such as 1.37.2
	typeFolders []typeFolder
}

// typeFolder is a folder with one folder per group and, below, one per version.
type typeFolder struct{ dir, importPath string }

func (s source) discovery() string { return filepath.Join(s.kubernetes, "api", "discovery") }

func (s source) openAPI() string { return filepath.Join(s.kubernetes, "api", "openapi-spec", "v3") }

func locate() (source, error) {
	root, err := goCommand(".", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return source{}, err
	}
	api, version, err := moduleOf(root, "k8s.io/api")
	if err != nil {
		return source{}, err
	}
	extensions, _, err := moduleOf(root, "k8s.io/apiextensions-apiserver")
	if err != nil {
		return source{}, err
	}
	kubernetes, release, err := download(root, version)
	if err != nil {
		return source{}, err
	}
	return source{
		root:       root,
		kubernetes: kubernetes,
		release:    release,
		typeFolders: []typeFolder{
			{api, "k8s.io/api"},
			{filepath.Join(extensions, "pkg", "apis"), "k8s.io/apiextensions-apiserver/pkg/apis"},
		},
	}, nil
}

// moduleOf downloads a module at the version that the module in root requires.
func moduleOf(root, path string) (dir, version string, err error) {
	version, err = goCommand(root, "list", "-m", "-f", "{{.Version}}", path)
	if err != nil {
		return "", "", err
	}
	dir, err = downloadModule(root, path+"@"+version)
	return dir, version, err
}

// download gets the Kubernetes release of a k8s.io/api version: v0.37.2 belongs to v1.37.2.
func download(root, apiVersion string) (dir, release string, err error) {
	numbers, ok := strings.CutPrefix(apiVersion, "v0.")
	if !ok {
		return "", "", fmt.Errorf("k8s.io/api %s is no release: want v0.MINOR.PATCH", apiVersion)
	}
	dir, err = downloadModule(root, "k8s.io/kubernetes@v1."+numbers)
	return dir, "1." + numbers, err
}

func downloadModule(root, module string) (string, error) {
	out, err := goCommand(root, "mod", "download", "-json", module)
	if err != nil {
		return "", err
	}
	var info struct{ Dir, Error string }
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		return "", fmt.Errorf("go mod download -json %s: %w", module, err)
	}
	if info.Error != "" {
		return "", fmt.Errorf("go mod download %s: %s", module, info.Error)
	}
	return info.Dir, nil
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
