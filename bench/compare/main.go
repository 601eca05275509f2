// Command compare measures kube beside client-go, controller-runtime and kube-rs: the same work
// against the same server, on the same machine, in the same run. It builds a program for each,
// runs them by turns, and prints a table of medians, ratios and spreads.
//
//	go run ./compare          the quick run, some minutes
//	go run ./compare -full    every scenario, at every size
//	go run ./compare -check   fails when a target is missed by more than 10 %
//
// What is compared are processor seconds and memory. Processor seconds depend on the machine
// and on what else runs there, ratios hardly: the programs take turns, so that all of them see
// the same weather.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// settings are the flags.
type settings struct {
	full, check, profile, micro bool
	repeat                      int
	only                        *regexp.Regexp
	results                     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func parse() settings {
	var s settings
	flag.BoolVar(&s.full, "full", false, "run every scenario at every size")
	flag.BoolVar(&s.check, "check", false, "fail when a target is missed by more than 10 %")
	flag.BoolVar(&s.profile, "profile", false, "leave CPU and heap profiles of kube beside the results")
	flag.BoolVar(&s.micro, "micro", true, "run the benchmarks of the packages too")
	flag.IntVar(&s.repeat, "repeat", 0, "how often each program runs; 0 is 3, or 5 with -full")
	flag.StringVar(&s.results, "results", "", "folder for results; empty is results, or results/quick without -full")
	only := flag.String("only", "", "run only scenarios whose name matches this regular expression")
	flag.Parse()
	s.only = regexp.MustCompile(*only)
	if s.repeat == 0 {
		s.repeat = 3
		if s.full {
			s.repeat = 5
		}
	}
	if s.results == "" {
		s.results = "results"
		if !s.full {
			s.results = filepath.Join("results", "quick")
		}
	}
	return s
}

func run(ctx context.Context, s settings) error {
	if err := os.MkdirAll(s.results, 0o755); err != nil {
		return err
	}
	if s.micro && s.only.MatchString("micro") {
		if err := runMicro(ctx, os.Stdout, s); err != nil {
			return err
		}
	}
	bin, err := os.MkdirTemp("", "kube-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	programs, err := buildPrograms(ctx, bin)
	if err != nil {
		return err
	}
	var all []*result
	for _, scenario := range scenarios(s.full) {
		if !s.only.MatchString(scenario.Name) {
			continue
		}
		r, err := measureScenario(ctx, s, programs, scenario)
		if err != nil {
			return fmt.Errorf("%s: %w", scenario.Name, err)
		}
		fmt.Printf("\n%s\n%s", r.Title, table(r.lines()))
		all = append(all, r)
	}
	return judge(os.Stdout, s, all)
}
