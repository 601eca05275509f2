package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the archives' want/ files")

// TestGenerate runs everything but the download over the inputs of an archive, and compares
// the output with the archive's want/ files. A file called error holds what the run has to
// fail with instead.
func TestGenerate(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives: ", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			in, want, wantErr := unpack(t, name)
			files, err := generate(in)
			if wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), wantErr) {
					t.Fatalf("error %v, want one with %q", err, wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				record(t, name, files)
				return
			}
			compare(t, files, want)
		})
	}
}

// unpack writes an archive's inputs to a folder.
func unpack(t *testing.T, name string) (in string, want map[string]string, wantErr string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in, want = t.TempDir(), map[string]string{}
	for _, f := range archive.Files {
		switch path, ok := strings.CutPrefix(f.Name, "want/"); {
		case ok:
			want[path] = string(f.Data)
		case f.Name == "error":
			wantErr = strings.TrimSpace(string(f.Data))
		default:
			mustWrite(t, in, f.Name, string(f.Data))
		}
	}
	return in, want, wantErr
}

func generate(in string) ([]file, error) {
	groups, err := readDiscovery(filepath.Join(in, "discovery"))
	if err != nil {
		return nil, err
	}
	types, err := indexTypes([]typeFolder{{filepath.Join(in, "api"), "k8s.io/api"}})
	if err != nil {
		return nil, err
	}
	packages, err := plan(groups, types)
	if err != nil {
		return nil, err
	}
	return render(packages, "1.37.2")
}

func compare(t *testing.T, files []file, want map[string]string) {
	t.Helper()
	for _, f := range files {
		if want[f.path] != string(f.data) {
			t.Errorf("%s:\n%s", f.path, f.data)
		}
		delete(want, f.path)
	}
	for path := range want {
		t.Errorf("%s was not written", path)
	}
}

// record replaces an archive's want/ files.
func record(t *testing.T, name string, files []file) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
	for _, f := range files {
		archive.Files = append(archive.Files, txtar.File{Name: "want/" + f.path, Data: f.data})
	}
	if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}
