package apiserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Program builds a program of the tests that has a module of its own beside this package, as in
// test/kubelet for the name kubelet, and returns its path. It is kept where [Binary] keeps the
// server. The go command decides what has to be built anew; the first time takes minutes, and
// logf is told.
func Program(ctx context.Context, name string, logf func(format string, args ...any)) (string, error) {
	if logf == nil {
		logf = logToStderr
	}
	path, err := buildProgram(ctx, name, logf)
	if err != nil {
		return "", fmt.Errorf("apiserver: building %s: %w", name, err)
	}
	return path, nil
}

func buildProgram(ctx context.Context, name string, logf func(string, ...any)) (string, error) {
	server, err := sourceDir(ctx)
	if err != nil {
		return "", err
	}
	source := filepath.Join(filepath.Dir(server), name)
	if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	unlock, err := lock(ctx, filepath.Join(cache, name+".lock"), logf)
	if err != nil {
		return "", err
	}
	defer unlock()
	start := time.Now()
	stop := every(progressInterval, func() {
		logf("building %s: %v", name, time.Since(start).Round(time.Second))
	})
	defer stop()
	// The same flags as for the server, so that the packages of both are compiled once.
	_, err = goOutput(ctx, source, append(buildArgs[:len(buildArgs):len(buildArgs)], "-o", path, ".")...)
	return path, err
}
