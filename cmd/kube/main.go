// Command kube is the command line of github.com/go-kube/kube.
//
//	kube dev [flags]           serve a Kubernetes API in memory on this machine
//	kube crd PACKAGE...        write the definitions of the kinds that Go packages declare
//	kube crd check SOURCE...   judge custom resource definitions as the API server would
//	kube crd diff OLD NEW      tell what changed between definitions, and what may break
//	kube types -f SOURCE       write Go types for the kinds that definitions describe
//
// kube COMMAND -h tells the flags of a command. The status is 0 where all is well, 1 where something
// failed or is not as it should be, and 2 where the arguments are wrong, or where a check could not be made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-kube/kube/internal/suggest"
)

// command is a subcommand. It returns when ctx ends at the latest.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, out, log io.Writer) error
}

// commands are all subcommands, in the order of the help.
func commands() []command {
	return []command{
		{"dev", "serve a Kubernetes API in memory on this machine", dev},
		{"crd", "write, check and compare custom resource definitions", crdCommand},
		{"types", "write Go types for custom resource definitions", typesCommand},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if code := exitCode(err); code != 0 {
		if !errors.Is(err, errUsage) {
			fmt.Fprintln(os.Stderr, "kube:", strings.TrimPrefix(err.Error(), "kube: "))
		}
		os.Exit(code)
	}
}

// exitCode is what kube ends with: 2 for wrong usage and where a check could not be made, that of a
// command that it ran, or 1.
func exitCode(err error) int {
	_, unjudged := errors.AsType[*unjudgedError](err)
	exit, ran := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case unjudged, errors.Is(err, errUsage):
		return 2
	case ran && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	return 1
}

// findingsError is what a check has found: it could be made, and something is wrong.
type findingsError struct{ text string }

func (e *findingsError) Error() string { return e.text }

func findings(format string, args ...any) error { return &findingsError{fmt.Sprintf(format, args...)} }

// unjudgedError is why a check could not be made.
type unjudgedError struct{ error }

func (e *unjudgedError) Unwrap() error { return e.error }

// judged tells what a check has found from what kept it from looking.
func judged(err error) error {
	if _, found := errors.AsType[*findingsError](err); found || err == nil {
		return err
	}
	return &unjudgedError{err}
}

// errUsage says that the arguments were wrong and that the user has been told.
var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		printUsage(log)
		if len(args) == 0 {
			return errUsage
		}
		return flag.ErrHelp
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], out, log)
		}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	fmt.Fprintf(log, "kube: there is no command %q%s\n\n", args[0], suggest.DidYouMean(args[0], names))
	printUsage(log)
	return errUsage
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, "Usage: kube COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-6s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nkube COMMAND -h tells the flags of a command.\n")
}
