package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// cacheEnv names the folder that keeps the built server programs.
const cacheEnv = "KUBE_TEST_CACHE"

const (
	progressInterval = 15 * time.Second
	// unusedFor is how long a program may lie unused before a later build removes it.
	unusedFor = 14 * 24 * time.Hour
)

// buildArgs build the server program. The version of Kubernetes is a fact of its release
// build, not of its source.
var buildArgs = []string{
	"build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath",
	"-ldflags=-s -w" + versionFlags(Version),
}

func versionFlags(version string) string {
	const variable = " -X k8s.io/component-base/version."
	parts := strings.SplitN(version, ".", 3)
	return variable + "gitVersion=v" + version + variable + "gitMajor=" + parts[0] + variable + "gitMinor=" + parts[1]
}

// Binary returns the path of the server program. If it is not there yet, Binary builds it with
// the go command, which takes minutes and several GB in the go command's caches, and says so by
// logf, again and again while it lasts.
//
// The program is kept below the folder named by KUBE_TEST_CACHE, or else below the user's cache
// folder, and is built anew when its source, its modules or the version of Go change. Processes
// that call Binary at the same time build once. An error of the build has the compiler's output.
func Binary(ctx context.Context, logf func(format string, args ...any)) (string, error) {
	if logf == nil {
		logf = logToStderr
	}
	source, err := sourceDir(ctx)
	if err != nil {
		return "", fmt.Errorf("apiserver: %w", err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", fmt.Errorf("apiserver: %w", err)
	}
	path, err := findBinary(ctx, source, cache, logf)
	if err != nil {
		return "", fmt.Errorf("apiserver: %w", err)
	}
	return path, nil
}

// findBinary returns the program made from the module in source, and builds it if cache does
// not have it.
func findBinary(ctx context.Context, source, cache string, logf func(string, ...any)) (string, error) {
	key, err := sourceKey(ctx, source)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "kube-apiserver-"+Version+"-"+key)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if touch(path) == nil {
		return path, nil
	}
	unlock, err := lock(ctx, filepath.Join(cache, "build.lock"), logf)
	if err != nil {
		return "", err
	}
	defer unlock()
	// Whoever had the lock before may have built it.
	if touch(path) == nil {
		return path, nil
	}
	return path, build(ctx, source, path, logf)
}

func cacheDir() (string, error) {
	dir := os.Getenv(cacheEnv)
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("there is no cache folder: %w; name one by %s", err, cacheEnv)
		}
		dir = filepath.Join(user, "kube-test")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// touch records that a file is in use, and fails if there is none.
func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// lock takes the lock file, waiting while another process has it.
func lock(ctx context.Context, path string, logf func(string, ...any)) (unlock func() error, err error) {
	l := flock.New(path)
	locked, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		logf("waiting for another process that builds %s", strings.TrimSuffix(filepath.Base(path), ".lock"))
		if _, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return l.Unlock, nil
}

// build builds the program in source as path, and removes those that nobody used for long.
func build(ctx context.Context, source, path string, logf func(string, ...any)) error {
	logf("building kube-apiserver %s from modules; the first time takes a few minutes", Version)
	start := time.Now()
	temp := path + ".building"
	cmd := goCommand(ctx, source, append(buildArgs, "-o", temp, ".")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var output buildOutput
	cmd.Stdout, cmd.Stderr = &output, &output
	stop := every(progressInterval, func() {
		logf("building kube-apiserver %s: %v, %s", Version, time.Since(start).Round(time.Second), output.progress())
	})
	err := cmd.Run()
	stop()
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("building kube-apiserver %s in %s: %w\n%s", Version, source, err, output.rest())
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	logf("built kube-apiserver %s in %v", Version, time.Since(start).Round(time.Second))
	return removeUnused(filepath.Dir(path))
}

// every calls f at each interval until stop is called, which returns when f no longer runs.
func every(interval time.Duration, f func()) (stop func()) {
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		wg.Wait()
	}
}

func removeUnused(cache string) error {
	files, err := filepath.Glob(filepath.Join(cache, "kube-apiserver-*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || time.Since(info.ModTime()) < unusedFor {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// buildOutput receives what go build -v prints: a line for each module that it downloads and
// each package that it compiles, which are counted, and errors, which are kept.
type buildOutput struct {
	mu                   sync.Mutex
	partial              []byte
	downloaded, compiled int
	kept                 strings.Builder
}

func (o *buildOutput) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, data...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(data), nil
		}
		o.line(string(line))
		o.partial = rest
	}
}

func (o *buildOutput) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		o.downloaded++
	case line != "" && !strings.ContainsAny(line, " \t"):
		o.compiled++
	default:
		o.kept.WriteString(line + "\n")
	}
}

func (o *buildOutput) progress() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Sprintf("%d modules downloaded, %d packages compiled", o.downloaded, o.compiled)
}

// rest returns what was neither a download nor a package.
func (o *buildOutput) rest() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String() + string(o.partial)
}
