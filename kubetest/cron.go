package kubetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cronField is what a field of a schedule can be.
type cronField struct {
	min, max int
	names    []string // of min and those that follow
}

var cronFields = []cronField{
	{0, 59, nil}, {0, 23, nil}, {1, 31, nil},
	{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

var cronShortcuts = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// parseCron says what is wrong with the schedule of a CronJob, in the words of the parser that
// Kubernetes uses (github.com/robfig/cron).
func parseCron(schedule string) error {
	if schedule == "" {
		return errors.New("empty spec string")
	}
	if strings.HasPrefix(schedule, "TZ=") || strings.HasPrefix(schedule, "CRON_TZ=") {
		zone, rest, ok := strings.Cut(schedule, " ")
		if !ok {
			return errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		_, zone, _ = strings.Cut(zone, "=")
		if _, err := time.LoadLocation(zone); err != nil {
			return fmt.Errorf("provided bad location %s: %v", zone, err) //nolint:errorlint // a text, and no error that anybody asks for
		}
		schedule = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(schedule, "@") {
		return parseShortcut(schedule)
	}
	parts := strings.Fields(schedule)
	if len(parts) != len(cronFields) {
		return fmt.Errorf("expected exactly %d fields, found %d: %s", len(cronFields), len(parts), parts)
	}
	for i, part := range parts {
		for expr := range strings.SplitSeq(part, ",") {
			if expr == "" {
				continue
			}
			if err := cronFields[i].parse(expr); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseShortcut(text string) error {
	if slices.Contains(cronShortcuts, text) {
		return nil
	}
	period, ok := strings.CutPrefix(text, "@every ")
	if !ok {
		return fmt.Errorf("unrecognized descriptor: %s", text)
	}
	if _, err := time.ParseDuration(period); err != nil {
		return fmt.Errorf("failed to parse duration %s: %s", text, err)
	}
	return nil
}

// parse says what is wrong with a range.
func (f cronField) parse(expr string) error {
	bounds, stepText, stepped := strings.Cut(expr, "/")
	low, high, ranged := strings.Cut(bounds, "-")
	start, end := f.min, f.max
	if low != "*" && low != "?" {
		var err error
		if start, err = f.number(low); err != nil {
			return err
		}
		switch {
		case strings.Contains(high, "-"):
			return fmt.Errorf("too many hyphens: %s", expr)
		case ranged:
			if end, err = f.number(high); err != nil {
				return err
			}
		case !stepped:
			end = start
		}
	}
	step := 1
	if strings.Contains(stepText, "/") {
		return fmt.Errorf("too many slashes: %s", expr)
	}
	if stepped {
		var err error
		if step, err = parseCronNumber(stepText); err != nil {
			return err
		}
	}
	switch {
	case start < f.min:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", start, f.min, expr)
	case end > f.max:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", end, f.max, expr)
	case start > end:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", start, end, expr)
	case step == 0:
		return fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	return nil
}

func (f cronField) number(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.min + i, nil
	}
	return parseCronNumber(text)
}

func parseCronNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %s", text, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, text)
	}
	return n, nil
}
