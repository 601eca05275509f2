// Command compare measures kube beside client-go, controller-runtime and kube-rs: the same work
// against the same server, on the same machine, in the same run. It builds a program for each,
// runs them by turns, and prints tables of medians and ratios.
//
//	go run ./compare           the quick run, some minutes
//	go run ./compare -full     every scenario, at every size; writes docs/performance.md
//	go run ./compare -check    fails when a target is missed by more than 10 %
//	go run ./compare -report   tables, plots and documents again, from the results that there are
//
// What is compared are processor seconds and memory. Processor seconds depend on the machine
// and on what else runs there, ratios hardly: the programs take turns, so that all of them see
// the same weather.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	full, check, report, profile bool
	repeat                       int
	only                         *regexp.Regexp
	results                      string // folder
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func parse(args []string) (s settings, err error) {
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	flags.BoolVar(&s.full, "full", false, "run every scenario at every size")
	flags.BoolVar(&s.check, "check", false, "fail when a target is missed by more than 10 %")
	flags.BoolVar(&s.report, "report", false, "measure nothing: write tables, plots and documents from the results that there are")
	flags.BoolVar(&s.profile, "profile", false, "leave CPU and heap profiles of kube beside the results")
	flags.IntVar(&s.repeat, "repeat", 0, "how often each program runs; 0 is 2 (3 where results are near their targets), or 5 with -full")
	flags.StringVar(&s.results, "results", "", "folder for results; empty is results, or results/quick without -full")
	only := flags.String("only", "", "run only scenarios whose name matches this regular expression")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.full = s.full || s.report
	if s.repeat == 0 {
		s.repeat = quickRepeat
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
	s.only, err = regexp.Compile(*only)
	return s, err
}

// quickRepeat is how often each program runs in the quick run.
const quickRepeat = 2

// command is what a user runs to measure this again.
func (s settings) command() string {
	if s.full {
		return "make bench-full"
	}
	return "make bench"
}

func run(ctx context.Context, s settings) error {
	if err := os.MkdirAll(s.results, 0o755); err != nil {
		return err
	}
	all, err := results(ctx, s)
	if err != nil {
		return err
	}
	if s.full && s.only.String() == "" && len(all) > 0 {
		if err := writeDocuments(all); err != nil {
			return err
		}
	}
	fmt.Printf("\n%s", overview(all))
	return judge(os.Stdout, s, all)
}

// results measures all scenarios, or reads what was measured.
func results(ctx context.Context, s settings) (all []*result, err error) {
	lab, begin := &lab{settings: s}, time.Now()
	if !s.report {
		if lab, err = newLab(ctx, s); err != nil {
			return nil, err
		}
		defer lab.close()
	}
	for _, sc := range scenarios(s.full) {
		if !s.only.MatchString(sc.Name) {
			continue
		}
		var r *result
		if s.report {
			r, err = readResult(s.results, sc)
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Printf("\n%s was not measured yet\n", sc.Name)
				continue
			}
		} else {
			r, err = lab.measure(ctx, sc)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sc.Name, err)
		}
		fmt.Printf("\n%s\n\n%s", sc.Title, r.table())
		if !s.report {
			fmt.Printf("\n%s was measured after %s\n", sc.Name, time.Since(begin).Round(time.Second))
		}
		if err := r.writePlot(s.results); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if !s.report {
		fmt.Printf("\nBuilding took %s, measuring %s.\n", lab.building.Round(time.Second), (time.Since(begin) - lab.building).Round(time.Second))
	}
	return all, nil
}
