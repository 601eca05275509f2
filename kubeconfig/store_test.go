package kubeconfig_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-kube/kube/kubeconfig"
)

func choose(context string) func(*kubeconfig.Config) error {
	return func(c *kubeconfig.Config) error {
		c.CurrentContext = context
		return nil
	}
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "config"), filepath.Join(dir, "link")
	if err := os.Symlink("config", link); err != nil {
		t.Skip(err)
	}
	if err := kubeconfig.Update(path, choose("one")); err != nil {
		t.Fatal(err)
	}
	mode := func() fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode() != 0o600 {
		t.Errorf("a new file has the mode %v", mode())
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := kubeconfig.Update(link, func(c *kubeconfig.Config) error {
		if c.CurrentContext != "one" {
			t.Errorf("read %q", c.CurrentContext)
		}
		return choose("two")(c)
	}); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if err := kubeconfig.Update(path, func(c *kubeconfig.Config) error { return errors.Join(choose("three")(c), no) }); !errors.Is(err, no) {
		t.Errorf("error = %v", err)
	}
	c, err := kubeconfig.Load(path)
	if err != nil || c.CurrentContext != "two" || mode() != 0o640 {
		t.Errorf("%v, %v, mode %v", c, err, mode())
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("files are left behind: %v", entries)
	}
}

// The folder of a first kubeconfig is made, and is nobody else's.
func TestUpdateMakesTheFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".kube", "config")
	if err := kubeconfig.Update(path, choose("one")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if c, err := kubeconfig.Load(path); err != nil || c.CurrentContext != "one" {
		t.Errorf("%v, %v", c, err)
	}
}

func TestUpdateErrors(t *testing.T) {
	dir := t.TempDir()
	broken, locked := filepath.Join(dir, "broken"), filepath.Join(dir, "locked")
	write(t, broken, "kind: Pod")
	write(t, locked+".lock", "")
	for path, want := range map[string]string{
		broken:                          `this is a "Pod", not a kubeconfig`,
		locked:                          "another program is writing the kubeconfig; if none is, remove the lock",
		filepath.Join(broken, "a file"): "not a directory",
	} {
		err := kubeconfig.Update(path, choose("x"))
		if err == nil || !strings.HasPrefix(err.Error(), "kubeconfig: changing "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(broken); err != nil || string(text) != "kind: Pod" {
		t.Errorf("what could not be read was written: %s, %v", text, err)
	}
}
