package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// storeTokens writes refreshed tokens into the kubeconfig that the user is in. Everything else in
// the file is as somebody else may have written it in the meantime.
func storeTokens(path, user, idToken, refreshToken string) error {
	return Update(path, func(c *Config) error {
		entry := c.User(user)
		if entry == nil || entry.User.AuthProvider == nil {
			return fmt.Errorf("user %q has no auth-provider any more", user)
		}
		p := entry.User.AuthProvider
		if p.Config == nil {
			p.Config = map[string]Secret{}
		}
		p.Config["id-token"] = Secret(idToken)
		if refreshToken != "" {
			p.Config["refresh-token"] = Secret(refreshToken)
		}
		return nil
	})
}

// storedTokens returns those that the user has in the kubeconfig now, empty where it has none.
func storedTokens(path, user string) (idToken, refreshToken string) {
	c, err := Load(path)
	if err != nil {
		return "", ""
	}
	entry := c.User(user)
	if entry == nil || entry.User.AuthProvider == nil {
		return "", ""
	}
	config := entry.User.AuthProvider.Config
	return string(config["id-token"]), string(config["refresh-token"])
}

const (
	// lockTries and lockWait bound how long another program may take to write the file.
	lockTries = 20
	lockWait  = 50 * time.Millisecond
)

// Update changes the kubeconfig at path: it reads the file, has change work on it, and puts the
// result, as of [Config.Encode], in its place in one step (a file that is mounted by itself, as into a
// container, is written over). The mode of the file stays, and a symbolic link stays one. A file
// that is not there is made, with its folder, for its owner only. An error of change is returned,
// and leaves the file as it is.
//
// Programs that go by kubectl's rule, that who has made path.lock may write, do not lose each
// other's changes. Update waits a second for a lock that somebody else has.
//
//	err := kubeconfig.Update(path, func(c *kubeconfig.Config) error {
//		c.CurrentContext = "prod"
//		return nil
//	})
func Update(path string, change func(*Config) error) error {
	if err := update(path, change); err != nil {
		return fmt.Errorf("kubeconfig: changing %s: %w", path, err)
	}
	return nil
}

func update(path string, change func(*Config) error) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := path + ".lock"
	if err := makeLock(lock); err != nil {
		return err
	}
	defer os.Remove(lock)
	c, err := Load(target)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = &Config{}, nil
	}
	if err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	text, err := c.Encode()
	if err != nil {
		return err
	}
	return replaceFile(target, text)
}

func makeLock(path string) error {
	var err error
	for range lockTries {
		var f *os.File
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		time.Sleep(lockWait)
	}
	return fmt.Errorf("another program is writing the kubeconfig; if none is, remove the lock: %w", err)
}

// replaceFile puts text in the place of the file, so that a reader sees the one or the other
// whole.
func replaceFile(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	if err == nil {
		mode = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	if errors.Is(err, syscall.EBUSY) { // a mount point, which nothing can take the place of
		err = os.WriteFile(path, text, mode)
	}
	return err
}
