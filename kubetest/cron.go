package kubetest

import (
	"fmt"

	"github.com/robfig/cron/v3"
)

// parseCron says what is wrong with the schedule of a CronJob. The parser, which is the one of
// Kubernetes, panics at some time zones, which Kubernetes too tells as an error.
func parseCron(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}
