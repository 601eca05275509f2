// Command conformance runs controller-runtime's own suites, as they are published, against
// kubetest and against a real API server, and prints a table by suite and what differs by spec.
// It is run in its folder:
//
//	go run . [flags] [SUITE...]
//
// A spec that passes against the real server has to pass against kubetest, unless the file
// allowed.txt has it with a reason. What fails without being allowed, and what is allowed and
// passes, ends the program with an error.
//
// The flags are:
//
//	-servers LIST   what to run against: kubetest, real (both by default)
//	-reports DIR    keep the reports of the suites, which have every spec and failure, in DIR
//	-v              print a table by spec, and the failures
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// suite is a package of controller-runtime, and how many specs of it are known to pass against
// a real server that has no webhooks to call and no controllers beside it.
type suite struct {
	name string
	want int
}

var suites = []suite{
	{"client", 311}, {"cache", 276}, {"controller/controllerutil", 60}, {"builder", 72},
	{"handler", 96}, {"controller", 32}, {"source", 19}, {"cluster", 15}, {"manager", 107},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	servers := flag.String("servers", "kubetest,real", "what to run against: a `list` of kubetest and real")
	reports := flag.String("reports", "", "keep the reports in this `folder`")
	verbose := flag.Bool("v", false, "print a table by spec, and the failures")
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		return err
	}
	allowed, err := readAllowed("allowed.txt")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *reports == "" {
		*reports = filepath.Join(dir, "reports")
	}
	r := &runner{dir: dir, reports: *reports}
	if err := r.build(ctx, strings.Split(*servers, ",")); err != nil {
		return err
	}
	results, err := r.runAll(ctx, chosen)
	if err != nil {
		return err
	}
	if *verbose {
		printSpecs(os.Stdout, results)
		printFailures(os.Stdout, results)
	}
	printTable(os.Stdout, results)
	return judge(os.Stdout, results, allowed, len(flag.Args()) == 0)
}

// choose returns the suites with the given names, all of them if there are none.
func choose(names []string) ([]suite, error) {
	if len(names) == 0 {
		return suites, nil
	}
	var chosen []suite
	for _, name := range names {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range suites {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("there is no suite %q: it is one of %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, suites[i])
	}
	return chosen, nil
}

var errDiffers = errors.New("kubetest does not do what the real server does")
