package pods_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// plant writes a tree of everything that is copied.
func plant(t *testing.T, dir string) {
	t.Helper()
	for name, mode := range map[string]fs.FileMode{"plain": 0o640, "program": 0o755, "read only": 0o400, "sub/ä": 0o600} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Repeat(name, 10_000)), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(1_700_000_000, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o710); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../plain", filepath.Join(dir, "sub", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "plain"), filepath.Join(dir, "sub", "second name")); err != nil {
		t.Fatal(err)
	}
}

// tree lists what is in a folder: mode, size and for files and links what they hold. Times are
// those of files only where they are said to be kept.
func tree(t *testing.T, dir string, times bool) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		line := fmt.Sprint(name, " ", info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			line += fmt.Sprint(" ", len(data), " ", string(data[:4]))
			if times {
				line += fmt.Sprint(" ", info.ModTime().Unix())
			}
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			line += " " + target
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCopy(t *testing.T) { onNodes(t, testCopy) }

func testCopy(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, idle)
	local := filepath.Join(t.TempDir(), "tree")
	plant(t, local)
	want := tree(t, local, true)

	if err := pods.CopyTo(t.Context(), f.api, "web-0", local, f.dir+"/a/there", nil); err != nil {
		t.Fatalf("%v\n%s", err, f.nodeLog())
	}
	if diff := cmp.Diff(tree(t, local, false), tree(t, f.dir+"/a/there", false)); diff != "" {
		t.Errorf("in the pod (-want +got):\n%s", diff)
	}
	remote := f.dir + "/a/source"
	plant(t, remote)
	back := filepath.Join(t.TempDir(), "back")
	if err := pods.CopyFrom(t.Context(), f.api, "web-0", remote, back, nil); err != nil {
		t.Fatalf("%v\n%s", err, f.nodeLog())
	}
	if diff := cmp.Diff(want, tree(t, back, true)); diff != "" {
		t.Errorf("copied back (-want +got):\n%s", diff)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := pods.CopyFrom(t.Context(), f.api, "web-0", remote+"/plain", file, nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != strings.Repeat("plain", 10_000) {
		t.Errorf("a file: %d bytes, %v", len(data), err)
	}
}

// TestCopyFromStaysInside: what leads out of the copied folder is refused.
func TestCopyFromStaysInside(t *testing.T) {
	f := run(t, idle)
	for name, target := range map[string]string{"absolute": "/etc/hostname", "relative": "../../outside"} {
		remote := filepath.Join(f.dir, "a", name)
		if err := os.Mkdir(remote, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(remote, "link")); err != nil {
			t.Fatal(err)
		}
		local := filepath.Join(t.TempDir(), "copy")
		err := pods.CopyFrom(t.Context(), f.api, "web-0", remote, local, nil)
		if err == nil || !strings.Contains(err.Error(), "out of what is copied") || !strings.Contains(err.Error(), target) {
			t.Errorf("%s: error %v, want one about %s", name, err, target)
		}
		if _, err := os.Lstat(filepath.Join(local, "link")); err == nil {
			t.Errorf("%s: the link was made", name)
		}
	}
}

func TestCopyErrors(t *testing.T) {
	f := run(t, idle)
	local := filepath.Join(t.TempDir(), "file")
	err := pods.CopyFrom(t.Context(), f.api, "web-0", "/no/such/file", local, nil)
	if err == nil || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("from: error %v, want what tar says", err)
	}
	if err := os.WriteFile(local, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = pods.CopyTo(t.Context(), f.api, "web-0", local, "/no/such/folder/file", nil)
	if err == nil || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("to: error %v, want what tar says", err)
	}
}
