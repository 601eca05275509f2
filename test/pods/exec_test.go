package pods_test

import (
	"bytes"
	"testing"

	"github.com/go-kube/kube/pods"
)

func TestExecOutput(t *testing.T) {
	f := run(t, idle)
	var out, errs bytes.Buffer
	err := pods.Exec(t.Context(), f.api, "web-0", []string{"sh", "-c", "echo out; echo err >&2"},
		&pods.ExecOptions{Streams: pods.Streams{Stdout: &out, Stderr: &errs}})
	if err != nil || out.String() != "out\n" || errs.String() != "err\n" {
		t.Errorf("%v, %q, %q\n%s", err, out.String(), errs.String(), f.nodeLog())
	}
}
