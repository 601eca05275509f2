package pods_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// runs executes what it is asked to, in dir, as a container's runtime would.
func runs(t *testing.T, dir string) http.HandlerFunc {
	return accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		args := r.URL.Query()["command"]
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Error(err)
			return
		}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		cmd.Stdout = writer(func(p []byte) { say(ctx, ws, 1, string(p)) })
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		go func() {
			for {
				_, data, err := ws.Read(ctx)
				if err != nil || data[0] == 255 {
					stdin.Close()
					return
				}
				stdin.Write(data[1:])
			}
		}()
		status := success
		if cmd.Wait() != nil {
			status = failure("2")
		}
		say(ctx, ws, 2, errs.String())
		say(ctx, ws, 3, status)
		<-ws.CloseRead(ctx).Done()
	})
}

type writer func(p []byte)

func (f writer) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestCopy(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip(err)
	}
	local, container, back := t.TempDir(), t.TempDir(), t.TempDir()
	tree := filepath.Join(local, "tree")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	big := bytes.Repeat([]byte("0123456789"), 300_000)
	must(os.MkdirAll(filepath.Join(tree, "sub", "empty"), 0o755))
	must(os.WriteFile(filepath.Join(tree, "sub", "big"), big, 0o640))
	must(os.WriteFile(filepath.Join(tree, "-f"), []byte("run"), 0o755))
	must(os.Symlink("sub/big", filepath.Join(tree, "link")))
	must(os.MkdirAll(filepath.Join(container, "linked", "a"), 0o755))
	must(os.WriteFile(filepath.Join(container, "linked", "a", "one"), []byte("shared"), 0o644))
	must(os.Link(filepath.Join(container, "linked", "a", "one"), filepath.Join(container, "linked", "two")))
	must(os.Chtimes(filepath.Join(tree, "sub", "big"), when, when))
	must(os.Chmod(filepath.Join(tree, "sub"), 0o555)) // nothing can be written into it once it is so
	t.Cleanup(func() {
		os.Chmod(filepath.Join(tree, "sub"), 0o755)
		os.Chmod(filepath.Join(back, "b", "sub"), 0o755)
		os.Chmod(filepath.Join(container, "there", "sub"), 0o755)
	})
	api := serve(t, runs(t, container))
	must(pods.CopyTo(t.Context(), api, "web", tree, "there", nil))
	must(pods.CopyFrom(t.Context(), api, "web", "there/", filepath.Join(back, "b"), nil))

	read, err := os.ReadFile(filepath.Join(back, "b", "link"))
	if err != nil || !bytes.Equal(read, big) {
		t.Errorf("%d bytes through the link, %v", len(read), err)
	}
	for file, mode := range map[string]os.FileMode{"sub": os.ModeDir | 0o555, "sub/empty": os.ModeDir | 0o755, "sub/big": 0o640, "-f": 0o755} {
		info, err := os.Stat(filepath.Join(back, "b", file))
		if err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	must(pods.CopyFrom(t.Context(), api, "web", "there/-f", filepath.Join(back, "run"), nil))
	if text, err := os.ReadFile(filepath.Join(back, "run")); err != nil || string(text) != "run" {
		t.Errorf("%q, %v", text, err)
	}

	for range 2 { // the second time over what the first one left
		must(pods.CopyFrom(t.Context(), api, "web", "linked", filepath.Join(back, "linked"), nil))
		one, err := os.Stat(filepath.Join(back, "linked", "a", "one"))
		must(err)
		two, err := os.Stat(filepath.Join(back, "linked", "two"))
		must(err)
		if one.Size() != int64(len("shared")) || !os.SameFile(one, two) {
			t.Errorf("a file with two names has %d bytes; is it one: %t", one.Size(), os.SameFile(one, two))
		}
	}
	t.Chdir(back)
	must(pods.CopyFrom(t.Context(), api, "web", "there", ".", nil))
	if read, err := os.ReadFile("link"); err != nil || !bytes.Equal(read, big) {
		t.Errorf("copied to the working folder: %d bytes through the link, %v", len(read), err)
	}
	os.Chmod("sub", 0o755)
	err = pods.CopyFrom(t.Context(), api, "web", "absent", filepath.Join(back, "x"), nil)
	if err == nil || !strings.Contains(err.Error(), "code 2") || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("error = %v", err)
	}
	if err := pods.CopyTo(t.Context(), api, "web", filepath.Join(local, "absent"), "x", nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error = %v", err)
	}
	for _, remote := range []string{"", "/", "..", "a/../.."} {
		if err := pods.CopyTo(t.Context(), api, "web", tree, remote, nil); err == nil || !strings.Contains(err.Error(), "names no file") {
			t.Errorf("%q: %v", remote, err)
		}
	}
}

// sending returns pods that answer each command with an archive of these headers.
func sending(t *testing.T, headers []tar.Header) kube.API[corev1.Pod] {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	return serve(t, accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		say(ctx, ws, 1, archive.String())
		say(ctx, ws, 3, success)
		<-ws.CloseRead(ctx).Done()
	}))
}

// Links that lead out of what is copied are left out, and are named. All else is there.
func TestCopyFromLeavesLinksOut(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip(err)
	}
	container, back := t.TempDir(), t.TempDir()
	tree := filepath.Join(container, "tree")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(tree, "sub"), 0o755),
		os.WriteFile(filepath.Join(tree, "a"), []byte("first"), 0o644),
		os.WriteFile(filepath.Join(tree, "sub", "z"), []byte("last"), 0o644),
		os.Symlink("../a", filepath.Join(tree, "sub", "in")),
		os.Symlink("/etc/mtab", filepath.Join(tree, "sub", "out")),
		os.Link(filepath.Join(tree, "sub", "out"), filepath.Join(tree, "sub", "out-again")),
		os.Symlink("../..", filepath.Join(tree, "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []pods.Link{{Path: "b/sub/out", Target: "/etc/mtab"}, {Path: "b/sub/out-again", Target: "/etc/mtab"}, {Path: "b/up", Target: "../.."}}
	api := serve(t, runs(t, container))
	err := pods.CopyFrom(t.Context(), api, "web", "tree", filepath.Join(back, "b"), nil)
	left, ok := errors.AsType[*pods.LinksError](err)
	if !ok || !strings.Contains(err.Error(), "b/sub/out") {
		t.Fatalf("error = %v, want one of links", err)
	}
	slices.SortFunc(left.Links, func(a, b pods.Link) int { return strings.Compare(a.Path, b.Path) })
	for i := range left.Links { // a tar sends the second name of a link as a hard link to the first that it met
		if strings.HasPrefix(left.Links[i].Target, "tree/") {
			left.Links[i].Target = "/etc/mtab"
		}
	}
	if diff := cmp.Diff(want, left.Links); diff != "" {
		t.Errorf("links that were left out (-want +got):\n%s", diff)
	}
	for file, want := range map[string]string{"a": "first", "sub/z": "last", "sub/in": "first"} {
		if text, err := os.ReadFile(filepath.Join(back, "b", file)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	for _, file := range []string{"up", "sub/out", "sub/out-again"} {
		if _, err := os.Lstat(filepath.Join(back, "b", file)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it not to be there", file, err)
		}
	}
}

// A pod cannot fill the memory with links.
func TestCopyFromEndsAtManyLinks(t *testing.T) {
	var links []tar.Header
	for i := range 10_001 {
		links = append(links, tar.Header{Name: fmt.Sprint("a/", i), Typeflag: tar.TypeSymlink, Linkname: "/"})
	}
	err := pods.CopyFrom(t.Context(), sending(t, links), "web", "a", filepath.Join(t.TempDir(), "a"), nil)
	if err == nil || !strings.Contains(err.Error(), "more than 10000 links") {
		t.Errorf("error = %v", err)
	}
}

// What a pod sends stays where it was meant to go.
func TestCopyFromMaliciousPod(t *testing.T) {
	for _, test := range []struct {
		name    string
		headers []tar.Header
		want    string
	}{
		{"parent", []tar.Header{{Name: "a/../../evil", Typeflag: tar.TypeReg, Mode: 0o644}}, "was not asked for"},
		{"absolute", []tar.Header{{Name: "/evil", Typeflag: tar.TypeReg, Mode: 0o644}}, "was not asked for"},
		{"other name", []tar.Header{{Name: "ab", Typeflag: tar.TypeReg, Mode: 0o644}}, "was not asked for"},
		{"link out", []tar.Header{{Name: "a", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "a/l", Typeflag: tar.TypeSymlink, Linkname: "../.."}}, "out of what is copied"},
		{"hard link out", []tar.Header{{Name: "a", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "a/l", Typeflag: tar.TypeLink, Linkname: "a/../../x"}}, "out of what is copied"},
		{"absolute hard link", []tar.Header{{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, "out of what is copied"},
		{"absolute link", []tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, "out of what is copied"},
		{"nothing", nil, "sent no file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := sending(t, test.headers)
			dir := t.TempDir()
			err := pods.CopyFrom(t.Context(), api, "web", "a", filepath.Join(dir, "in", "a"), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
				t.Fatal(err)
			}
			err = pods.CopyFrom(t.Context(), api, "web", "a", filepath.Join(dir, "in", "a"), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("files outside: %v", entries)
			}
		})
	}
}

// What is sent is in the format that every tar reads: see forAnyTar.
func TestCopyToArchive(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a ä", "b " + strings.Repeat("long ", 40), "c"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	api := serve(t, accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		for {
			_, data, err := ws.Read(ctx)
			if err != nil || data[0] == 255 {
				break
			}
			archive.Write(data[1:])
		}
		say(ctx, ws, 3, success)
		<-ws.CloseRead(ctx).Done()
	}))
	if err := pods.CopyTo(t.Context(), api, "web", tree, "/there", nil); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(&archive); ; {
		head, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if head.Format&tar.FormatGNU == 0 {
			t.Errorf("%s is in the format %s", head.Name, head.Format)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[head.Name] = string(text)
	}
	for _, name := range names {
		if got["there/"+name] != name {
			t.Errorf("%s: %q", name, got["there/"+name])
		}
	}
}
