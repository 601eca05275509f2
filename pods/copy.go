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
	"time"

	"github.com/go-kube/kube"
	corev1 "k8s.io/api/core/v1"
)

// CopyOptions are for [CopyTo] and [CopyFrom].
type CopyOptions struct {
	// Container is whose files are meant. Empty is the pod's default container, see [ExecOptions].
	Container string
}

// CopyTo copies a file or a folder, with all that is in it, to the pod called name. remote is the
// path that it has there, and its folder has to exist. Permissions and symbolic links are kept;
// times are those of the copy, owners those of the container's user. Of a file that is written
// meanwhile, as much is copied as it had at first. Sockets, pipes and devices are left out. The
// container needs tar, which may be that of BusyBox.
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
// local, whose folder has to exist. Permissions, times and links are kept. Nothing is written outside
// of local, whatever the pod sends: a name with .. is an error, and a link that leads out of what is copied is
// left out, which is told at the end, when all else is there, by a [*LinksError].
// Sockets, pipes and devices are left out. The container needs tar.
func CopyFrom(ctx context.Context, pods kube.API[corev1.Pod], name, remote, local string, opts *CopyOptions) error {
	remote = path.Clean(remote)
	base := path.Base(remote)
	if base == "." || base == ".." || base == "/" {
		return fmt.Errorf("pods: the path %q in the pod names no file or folder to be read", remote)
	}
	local, err := filepath.Abs(local) // "." has a name, which links are compared with
	if err != nil {
		return fmt.Errorf("pods: copying from %s: %w", name, err)
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := readTar(r, local, base)
		if _, links := errors.AsType[*LinksError](err); err == nil || links || errors.Is(err, errNoFile) {
			io.Copy(io.Discard, r) // what pads the archive; an error is that of the command
		}
		r.CloseWithError(err)
		done <- err
	}()
	command := []string{"tar", "-cf", "-", "-C", path.Dir(remote), "--", base}
	err = runTar(ctx, pods, name, command, opts, Streams{Stdout: w})
	w.CloseWithError(err)
	unpacking := <-done
	if unpacking == nil {
		return err
	}
	unpacking = fmt.Errorf("pods: copying from %s: %w", name, unpacking)
	switch _, links := errors.AsType[*LinksError](unpacking); {
	case err == nil || errors.Is(err, errors.Unwrap(unpacking)):
		return unpacking
	case links:
		return errors.Join(err, unpacking)
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
	forAnyTar(head)
	if err := t.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return addContent(t, file, head.Size)
}

// forAnyTar chooses the GNU format, which has times in whole seconds only. In the one that package tar
// would take (PAX), BusyBox does not read the size of a file of 8 GiB and more, and takes what is in
// it for the next files.
func forAnyTar(head *tar.Header) {
	head.Format = tar.FormatGNU
	head.ModTime = head.ModTime.Truncate(time.Second)
	head.AccessTime, head.ChangeTime = time.Time{}, time.Time{}
}

// addContent adds as much of a file as its header says: a log may grow in the meantime.
func addContent(t *tar.Writer, file string, size int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = io.CopyN(t, f, size); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s became shorter while it was copied", file)
	}
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
	u := unpacker{root: root, top: filepath.Base(local), modes: map[string]fs.FileMode{}, left: map[string]bool{}}
	t := tar.NewReader(r)
	for {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			return u.finish()
		}
		if err != nil {
			return err
		}
		file, ok := u.place(head.Name, base)
		if !ok {
			return fmt.Errorf("the pod sent the file %q, which was not asked for", head.Name)
		}
		if err := u.add(file, base, head, t); err != nil {
			return err
		}
	}
}

var errNoFile = errors.New("the pod sent no file")

// LinksError is what [CopyFrom] fails with when all was copied but links that lead out of what is copied: they
// would be to other files here than they are in the pod.
type LinksError struct {
	// Links are those that were left out, in the order in which the pod sent them.
	Links []Link
}

// Link is a symbolic or hard link.
type Link struct {
	// Path is where it would be here, relative to the folder that the copy is in.
	Path string
	// Target is what it leads to in the pod, as it stands there.
	Target string
}

// Error implements error. It names a few of the links.
func (e *LinksError) Error() string {
	var named []string
	for _, link := range e.Links[:min(len(e.Links), 3)] {
		named = append(named, link.Path+" to "+link.Target)
	}
	text := "all but links that lead out of what is copied: " + strings.Join(named, ", ")
	if more := len(e.Links) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

type unpacker struct {
	root  *os.Root
	top   string
	modes map[string]fs.FileMode // of folders, which are set when nothing is written into them any more
	links []Link                 // that were left out
	left  map[string]bool        // their paths
	found bool
}

// place returns where in the root what the archive calls name goes; ok is false for what is not at
// base or below it.
func (u *unpacker) place(name, base string) (file string, ok bool) {
	name = path.Clean(strings.TrimSuffix(name, "/"))
	below, ok := strings.CutPrefix(name+"/", base+"/")
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", false
	}
	return filepath.Join(u.top, filepath.FromSlash(below)), true
}

func (u *unpacker) add(file, base string, head *tar.Header, content io.Reader) error {
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
	case tar.TypeLink:
		return u.hardLink(file, base, head.Linkname)
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return u.write(file, mode, head, content)
	}
	return nil
}

// link makes a symbolic link that leads to somewhere in what is copied.
func (u *unpacker) link(file, target string) error {
	native := filepath.FromSlash(target)
	to := filepath.Join(filepath.Dir(file), native)
	if path.IsAbs(target) || filepath.IsAbs(native) || to != u.top && !strings.HasPrefix(to, u.top+string(filepath.Separator)) {
		return u.leaveOut(file, target)
	}
	if err := u.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return u.root.Symlink(native, file)
}

// mostLinks bounds what is remembered of links that are left out.
const mostLinks = 10_000

// leaveOut notes a link that leads out of what is copied.
func (u *unpacker) leaveOut(file, target string) error {
	if len(u.links) == mostLinks {
		return fmt.Errorf("more than %d links lead out of what is copied, the last one from %s to %s", mostLinks, file, target)
	}
	u.links = append(u.links, Link{file, target})
	u.left[file] = true
	return nil
}

// hardLink makes another name of a file that came before: a tar sends what is in a file once, however
// many names it has.
func (u *unpacker) hardLink(file, base, target string) error {
	to, ok := u.place(target, base)
	if !ok || u.left[to] {
		return u.leaveOut(file, target)
	}
	if err := u.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return u.root.Link(to, file)
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
	if err := errors.Join(all...); err != nil || len(u.links) == 0 {
		return err
	}
	return &LinksError{u.links}
}
