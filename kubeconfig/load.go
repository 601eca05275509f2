package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads the kubeconfig at path. The error of a file that is not there is
// [fs.ErrNotExist].
func Load(path string) (*Config, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	text, err := os.ReadFile(absolute)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.cameFrom(absolute)
	return c, nil
}

func (c *Config) cameFrom(path string) {
	for i := range c.Clusters {
		c.Clusters[i].Origin = path
	}
	for i := range c.Users {
		c.Users[i].Origin = path
	}
	for i := range c.Contexts {
		c.Contexts[i].Origin = path
	}
}

// LoadDefault reads and merges the files that [DefaultPaths] lists. A file that is not there is
// skipped; if none of them is, the error is [fs.ErrNotExist]. A file that cannot be read or
// understood is an error: skipping it could mean to act on the wrong cluster.
func LoadDefault() (*Config, error) {
	paths, err := DefaultPaths()
	if err != nil {
		return nil, err
	}
	whole := &Config{}
	found := false
	for _, path := range paths {
		part, err := Load(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = true
		whole.Merge(part)
	}
	if !found {
		return nil, fmt.Errorf("kubeconfig: %w: looked for %s", fs.ErrNotExist, strings.Join(paths, ", "))
	}
	return whole, nil
}

// DefaultPaths lists the files that make up the user's kubeconfig, in order of precedence: those
// in the environment variable KUBECONFIG (separated by colons, on Windows by semicolons), or
// .kube/config in the home directory if the variable is not set or names no file.
func DefaultPaths() ([]string, error) {
	var paths []string
	for _, path := range filepath.SplitList(os.Getenv("KUBECONFIG")) {
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		return paths, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w: neither KUBECONFIG nor a home directory is set: %w", fs.ErrNotExist, err)
	}
	return []string{filepath.Join(home, ".kube", "config")}, nil
}
