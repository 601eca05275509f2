package pods

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-kube/kube"
	corev1 "k8s.io/api/core/v1"
)

// CopyOptions are for [CopyTo] and [CopyFrom].
type CopyOptions struct {
	// Container is whose files are meant. Empty is the pod's default container.
	Container string
}

// CopyTo copies a file or a folder, with all that is in it, to the pod called name. remote is the
// path that it has there, and its folder has to exist. Permissions, times and symbolic links are
// kept; owners are those of the container's user. The container needs tar.
func CopyTo(ctx context.Context, pods kube.API[corev1.Pod], name, local, remote string, opts *CopyOptions) error {
	remote = path.Clean(remote)
	if base := path.Base(remote); base == "." || base == ".." || base == "/" {
		return fmt.Errorf("pods: the path %q in the pod names no file to be written", remote)
	}
	if _, err := os.Lstat(local); err != nil {
		return fmt.Errorf("pods: copying to %s: %w", name, err)
	}
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(writeTar(w, local, path.Base(remote))) }()
	command := []string{"tar", "-xmf", "-", "-C", path.Dir(remote)}
	return runTar(ctx, pods, name, command, opts, Streams{Stdin: r})
}

// CopyFrom copies a file or a folder, with all that is in it, from the pod called name to the path
// local, whose folder has to exist. Permissions and times are kept. Nothing is written outside of
// local, whatever the pod sends: a symbolic link that leads out of it, and a name with .., is an
// error. Devices and the like are left out. The container needs tar.
func CopyFrom(ctx context.Context, pods kube.API[corev1.Pod], name, remote, local string, opts *CopyOptions) error {
	remote = path.Clean(remote)
	base := path.Base(remote)
	if base == "." || base == ".." || base == "/" {
		return fmt.Errorf("pods: the path %q in the pod names no file or folder to be read", remote)
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := readTar(r, local, base)
		if err == nil || errors.Is(err, errNoFile) {
			io.Copy(io.Discard, r) // what pads the archive; an error is that of the command
		}
		r.CloseWithError(err)
		done <- err
	}()
	command := []string{"tar", "-cf", "-", "-C", path.Dir(remote), "--", base}
	err := runTar(ctx, pods, name, command, opts, Streams{Stdout: w})
	w.CloseWithError(err)
	if local := <-done; local != nil && (err == nil || errors.Is(err, local)) {
		return fmt.Errorf("pods: copying from %s: %w", name, local)
	}
	return err
}

// runTar runs tar, and tells what it complains about.
func runTar(ctx context.Context, pods kube.API[corev1.Pod], name string, command []string, opts *CopyOptions, streams Streams) error {
	var complaint bytes.Buffer
	o := &ExecOptions{Streams: streams}
	o.Stderr = &complaint
	if opts != nil {
		o.Container = opts.Container
	}
	err := Exec(ctx, pods, name, command, o)
	if text := strings.TrimSpace(complaint.String()); err != nil && text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// writeTar packs local under the name base.
func writeTar(w io.Writer, local, base string) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(local, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(local, file)
		if err != nil {
			return err
		}
		return addToTar(t, file, path.Join(base, filepath.ToSlash(below)))
	})
	return errors.Join(err, t.Close())
}

func addToTar(t *tar.Writer, file, name string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	link := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if link, err = os.Readlink(file); err != nil {
			return err
		}
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil // sockets, pipes, devices
	}
	head, err := tar.FileInfoHeader(info, filepath.ToSlash(link))
	if err != nil {
		return err
	}
	head.Name, head.Uid, head.Gid, head.Uname, head.Gname = name, 0, 0, "", ""
	if err := t.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}

// readTar unpacks what is at base and below it to local.
func readTar(r io.Reader, local, base string) error {
	// A Root keeps every path within it, links included, also when somebody changes it meanwhile.
	root, err := os.OpenRoot(filepath.Dir(local))
	if err != nil {
		return err
	}
	defer root.Close()
	u := unpacker{root: root, top: filepath.Base(local), modes: map[string]fs.FileMode{}}
	t := tar.NewReader(r)
	for {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			return u.finish()
		}
		if err != nil {
			return err
		}
		name := path.Clean(strings.TrimSuffix(head.Name, "/"))
		below, ok := strings.CutPrefix(name+"/", base+"/")
		if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("the pod sent the file %q, which was not asked for", head.Name)
		}
		if err := u.add(filepath.Join(u.top, filepath.FromSlash(below)), head, t); err != nil {
			return err
		}
	}
}

var errNoFile = errors.New("the pod sent no file")

type unpacker struct {
	root  *os.Root
	top   string
	modes map[string]fs.FileMode // of folders, which are set when nothing is written into them any more
	found bool
}

func (u *unpacker) add(file string, head *tar.Header, content io.Reader) error {
	u.found = true
	mode := head.FileInfo().Mode().Perm()
	switch head.Typeflag {
	case tar.TypeDir:
		u.modes[file] = mode
		if err := u.root.Mkdir(file, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case tar.TypeSymlink:
		return u.link(file, head.Linkname)
	case tar.TypeReg:
		return u.write(file, mode, head, content)
	}
	return nil
}

// link makes a symbolic link that leads to somewhere in what is copied.
func (u *unpacker) link(file, target string) error {
	native := filepath.FromSlash(target)
	to := filepath.Join(filepath.Dir(file), native)
	if path.IsAbs(target) || filepath.IsAbs(native) || to != u.top && !strings.HasPrefix(to, u.top+string(filepath.Separator)) {
		return fmt.Errorf("the symbolic link %s leads to %s, out of what is copied", file, target)
	}
	if err := u.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return u.root.Symlink(native, file)
}

func (u *unpacker) write(file string, mode fs.FileMode, head *tar.Header, content io.Reader) error {
	// A link that is there is not followed: the file takes its place.
	if info, err := u.root.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := u.root.Remove(file); err != nil {
			return err
		}
	}
	f, err := u.root.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return u.root.Chtimes(file, head.ModTime, head.ModTime)
}

func (u *unpacker) finish() error {
	if !u.found {
		return errNoFile
	}
	var all []error
	for _, file := range slices.Backward(slices.Sorted(maps.Keys(u.modes))) { // what is deepest first
		all = append(all, u.root.Chmod(file, u.modes[file]))
	}
	return errors.Join(all...)
}
