package packagecrd

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// goCommand runs the go command in a directory.
type goCommand struct {
	dir string
	env []string // in addition
}

// run returns what the command prints. An error has what it prints about it.
func (g *goCommand) run(ctx context.Context, args ...string) ([]byte, error) {
	var out, log bytes.Buffer
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Stdout, command.Stderr = g.dir, &out, &log
	command.Env = append(os.Environ(), g.env...)
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(log.Bytes()))
	}
	return out.Bytes(), nil
}

// goPackage is what go list says of a package.
type goPackage struct {
	Dir, ImportPath, Name string
	GoFiles               []string
	Module                *goModule
	Error                 *struct{ Err string }
}

type goModule struct {
	Path, Version, Dir, GoMod string
	Main                      bool
}

// list returns the packages that patterns name, without commands, which nobody can import.
func (g *goCommand) list(ctx context.Context, patterns []string) (packages []goPackage, err error) {
	out, err := g.run(ctx, append([]string{"list", "-e", "-json=Dir,ImportPath,Name,GoFiles,Module,Error", "--"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var errs []error
	for in := jsontext.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := json.UnmarshalDecode(in, &p)
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading what go list says: %w", err)
		case p.Error != nil:
			errs = append(errs, fmt.Errorf("%s: %s", p.ImportPath, strings.TrimSpace(p.Error.Err)))
		case p.Module == nil:
			errs = append(errs, fmt.Errorf("%s: it belongs to no module", p.ImportPath))
		case p.Name != "main":
			packages = append(packages, p)
		}
	}
	return packages, errors.Join(errs...)
}

// moduleDirs returns the directories of the modules that a package is made of.
func (g *goCommand) moduleDirs(ctx context.Context, flags []string, importPath string) (dirs []string, err error) {
	out, err := g.run(ctx, append(append([]string{"list"}, flags...), "-deps", "-f", "{{with .Module}}{{.Dir}}{{end}}", importPath)...)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{"": true}
	for line := range strings.Lines(string(out)) {
		if dir := strings.TrimSpace(line); !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}
