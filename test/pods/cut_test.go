package pods_test

import (
	"errors"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
)

// TestExecIsCut: an exec whose network breaks, the client's or the node's, is an error and no end of
// the command. Where the API server translates, it tells of success when the node is lost (its SPDY
// client takes an end without a Status for one), so that is left out.
func TestExecIsCut(t *testing.T) { onNodes(t, testExecIsCut) }

func testExecIsCut(t *testing.T, put func(*corev1.Pod)) {
	var network cable
	f := runWith(t, func(c *kube.Config) { c.Dial = network.dial }, put, idle)
	cuts := map[string]func(){"the client's network": network.cut}
	if f.pod.Spec.NodeName != oldNode {
		cuts["the node's network"] = func() {
			if err := f.node.Cut(); err != nil {
				t.Error(err)
			}
		}
	}
	for name, cut := range cuts {
		err := pods.Exec(t.Context(), f.api, "web-0", []string{"sh", "-c", "echo begun; exec sleep 1000"}, &pods.ExecOptions{Streams: pods.Streams{
			Stdout: writer(func([]byte) { cut() }),
		}})
		if _, exit := errors.AsType[*pods.ExitError](err); err == nil || exit {
			t.Errorf("%s: %v, want an error of the connection", name, err)
		}
	}
}
