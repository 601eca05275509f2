package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
)

// LogOptions choose what of a log is read.
type LogOptions struct {
	// Container is whose log. Empty is the pod's default container, see [ExecOptions].
	Container string
	// Previous reads the log of the container's previous run.
	Previous bool
	// Since leaves out what is older than that, and SinceTime what is from before then. Only one
	// may be set. Since is in whole seconds.
	Since     time.Duration
	SinceTime time.Time
	// TailLines is how many of the last lines are read. Nil is all.
	TailLines *int64
	// LimitBytes ends the log after so many bytes; 0 is no limit.
	LimitBytes int64
	// Timestamps puts the time before each line.
	Timestamps bool
	// Follow goes on with what comes until the container ends. It is for [LogStream];
	// [FollowLogs] always does.
	Follow bool
	// InsecureBackend lets the API server read from a kubelet whose certificate it cannot verify:
	// the log may be somebody else's then. It is for logs of nodes whose certificates have ended.
	InsecureBackend bool
}

func (o *LogOptions) query() (url.Values, error) {
	switch {
	case o.Since != 0 && !o.SinceTime.IsZero():
		return nil, errors.New("pods: both Since and SinceTime are set")
	case o.Since < 0 || o.Since%time.Second != 0:
		return nil, fmt.Errorf("pods: Since is %s, and has to be a whole number of seconds", o.Since)
	case o.LimitBytes < 0:
		return nil, fmt.Errorf("pods: LimitBytes is %d", o.LimitBytes)
	case o.TailLines != nil && *o.TailLines < 0:
		return nil, fmt.Errorf("pods: TailLines is %d", *o.TailLines)
	}
	q := url.Values{}
	set := func(key, value string, on bool) {
		if on {
			q.Set(key, value)
		}
	}
	set("container", o.Container, o.Container != "")
	set("previous", "true", o.Previous)
	set("sinceSeconds", strconv.FormatInt(int64(o.Since/time.Second), 10), o.Since > 0)
	set("sinceTime", o.SinceTime.UTC().Format(time.RFC3339Nano), !o.SinceTime.IsZero())
	set("limitBytes", strconv.FormatInt(o.LimitBytes, 10), o.LimitBytes > 0)
	set("timestamps", "true", o.Timestamps)
	set("follow", "true", o.Follow)
	set("insecureSkipTLSVerifyBackend", "true", o.InsecureBackend)
	if o.TailLines != nil {
		q.Set("tailLines", strconv.FormatInt(*o.TailLines, 10))
	}
	return q, nil
}

// Logs returns the log of a container of the pod called name.
func Logs(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) (string, error) {
	return logs(ctx, served{pods, name}, opts)
}

func logs(ctx context.Context, pod target, opts *LogOptions) (string, error) {
	o := LogOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Follow {
		return "", errors.New("pods: Follow is for LogStream and FollowLogs: a log that is followed has no end to wait for")
	}
	stream, err := logStream(ctx, pod, &o)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	if err != nil {
		return "", fmt.Errorf("pods: log of %s: %w", pod, err)
	}
	return string(text), nil
}

// LogStream returns the log of a container of the pod called name as it arrives. The caller closes
// it. Only ctx bounds it.
func LogStream(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) (io.ReadCloser, error) {
	return logStream(ctx, served{pods, name}, opts)
}

func logStream(ctx context.Context, pod target, opts *LogOptions) (io.ReadCloser, error) {
	o := LogOptions{}
	if opts != nil {
		o = *opts
	}
	query, err := o.query()
	if err != nil {
		return nil, err
	}
	resp, err := pod.open(ctx, core.PodLog.Descriptor(), query, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
