package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteRemovesWhatIsStale(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "k8s/gone/zz_generated.go", "old")
	mustWrite(t, root, "k8s/kept/zz_generated.go", "old")
	mustWrite(t, root, "k8s/mixed/zz_generated.go", "old")
	mustWrite(t, root, "k8s/mixed/types.go", "by hand")

	if err := write(root, []file{{"k8s/kept/zz_generated.go", []byte("new")}, {"k8s/added/v1/zz_generated.go", []byte("new")}}); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{
		"k8s/kept/zz_generated.go":     "new",
		"k8s/added/v1/zz_generated.go": "new",
		"k8s/mixed/types.go":           "by hand",
	}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(root, "k8s", "gone")); !os.IsNotExist(err) {
		t.Errorf("the empty folder is still there: %v", err)
	}
}

func mustWrite(t *testing.T, root, name, data string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	fsys := os.DirFS(root)
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
