package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
)

// write writes files below root, leaving alone what has not changed, and removes the
// generated files below k8s/ that are not among them.
func write(root string, files []file) error {
	keep := map[string]bool{}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.path))
		keep[name] = true
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, f.data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, 0o666); err != nil {
			return err
		}
	}
	return removeStale(filepath.Join(root, "k8s"), keep)
}

func removeStale(dir string, keep map[string]bool) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != generatedGo || keep[name] {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.Remove(filepath.Dir(name)); err != nil && !hasFiles(filepath.Dir(name)) {
			return err
		}
		return nil
	})
}

func hasFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}
