// Package compile holds programs that must not compile: the mistakes that the types of the
// library are there to catch.
//
// Each file of testdata is a txtar archive. Its comment says what is caught. refused.go is the
// mistake, want is a part of what the compiler says, and accepted.go is the same program done
// right, so that refused.go cannot be refused for another reason.
package compile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestCompile(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("testdata has no programs")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := readCase(t, file)
			if output, err := compile(t, c.accepted); err != nil {
				t.Errorf("accepted.go does not compile: %v\n%s", err, output)
			}
			output, err := compile(t, c.refused)
			if err == nil {
				t.Fatal("refused.go compiles")
			}
			if !strings.Contains(output, c.want) {
				t.Errorf("the compiler does not say %q, but:\n%s", c.want, output)
			}
			// One mistake, one message: a second one would be a mistake of the test.
			if n := strings.Count(output, "refused.go:"); n != 1 {
				t.Errorf("the compiler has %d messages, want one:\n%s", n, output)
			}
		})
	}
}

// program is a file of Go.
type program struct {
	name string
	data []byte
}

type testCase struct {
	refused, accepted program
	want              string
}

func readCase(t *testing.T, file string) testCase {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c testCase
	for _, f := range archive.Files {
		switch f.Name {
		case "refused.go":
			c.refused = program{f.Name, f.Data}
		case "accepted.go":
			c.accepted = program{f.Name, f.Data}
		case "want":
			c.want = strings.TrimSpace(string(f.Data))
		default:
			t.Fatalf("%s has a file %q; it may have refused.go, accepted.go and want", file, f.Name)
		}
	}
	if c.refused.data == nil || c.accepted.data == nil || c.want == "" {
		t.Fatalf("%s has to have refused.go, accepted.go and want", file)
	}
	return c
}

// compile builds a program with the requirements of this module, and returns what the go
// command says. It is not linked, since it is no main package.
func compile(t *testing.T, p program) (output string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.name)
	if err := os.WriteFile(path, p.data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, path).CombinedOutput()
	return string(out), err
}
