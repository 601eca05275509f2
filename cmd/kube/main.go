// Command kube is the command line of github.com/go-kube/kube.
//
//	kube dev [flags]           serve a Kubernetes API in memory on this machine
//	kube crd PACKAGE...        write the definitions of the kinds that Go packages declare
//	kube crd check FILE...     judge custom resource definitions as the API server would
//	kube crd diff OLD NEW      tell what changed between definitions, and what may break
//	kube types -f FILE         write Go types for the kinds that definitions describe
//
// kube COMMAND -h tells the flags of a command.
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
	"syscall"
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
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is that of a command that kube ran, or 1.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	return 1
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
	fmt.Fprintf(log, "kube: there is no command %q\n\n", args[0])
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
