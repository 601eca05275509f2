package pods

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// LogOptions choose what of a log is read.
type LogOptions struct {
	// Container is whose log. Empty is the pod's only container; one of several has to be named.
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
	if o.TailLines != nil {
		q.Set("tailLines", strconv.FormatInt(*o.TailLines, 10))
	}
	return q, nil
}

// Logs returns the log of a container of the pod called name.
func Logs(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) (string, error) {
	o := LogOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Follow {
		return "", errors.New("pods: Follow is for LogStream and FollowLogs: a log that is followed has no end to wait for")
	}
	stream, err := LogStream(ctx, pods, name, &o)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	if err != nil {
		return "", fmt.Errorf("pods: log of %s/%s: %w", pods.Endpoint().Namespace(), name, err)
	}
	return string(text), nil
}

// LogStream returns the log of a container of the pod called name as it arrives. The caller closes
// it. Only ctx bounds it.
func LogStream(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) (io.ReadCloser, error) {
	o := LogOptions{}
	if opts != nil {
		o = *opts
	}
	query, err := o.query()
	if err != nil {
		return nil, err
	}
	resp, err := pods.Endpoint().Connect(ctx, name, core.PodLog.Descriptor(), query, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// LogLine is a line of a log.
type LogLine struct {
	// Time is when the container's runtime got the line.
	Time time.Time
	// Text has no line break at its end.
	Text string
}

const (
	followPause    = 500 * time.Millisecond
	followPauseMax = 10 * time.Second
)

// FollowLogs goes through the lines of a container of the pod called name, those to come included,
// until the container has ended or ctx has. A connection that breaks is opened again from the last
// line's time on; lines that were seen are not repeated. A refusal, as for a pod that is gone, is
// the last thing that is yielded, except that it ends the sequence without an error where the
// container ended before it. Follow and Timestamps have no effect.
func FollowLogs(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) iter.Seq2[LogLine, error] {
	f := follower{pods: pods, name: name}
	if opts != nil {
		f.LogOptions = *opts
	}
	f.Follow, f.Timestamps = true, true
	return func(yield func(LogLine, error) bool) {
		g := f // a sequence can be gone through again
		g.run(ctx, yield)
	}
}

type follower struct {
	LogOptions
	pods kube.API[corev1.Pod]
	name string

	last time.Time
	// seen are the lines with the time last: the server sends them again.
	seen map[string]int
}

func (f *follower) run(ctx context.Context, yield func(LogLine, error) bool) {
	pause := followPause
	for {
		before := f.last
		clean, err := f.once(ctx, yield)
		if errors.Is(err, errEnough) {
			return
		}
		if ctx.Err() != nil {
			yield(LogLine{}, fmt.Errorf("pods: log of %s/%s: %w", f.pods.Endpoint().Namespace(), f.name, context.Cause(ctx)))
			return
		}
		if clean && f.hasEnded(ctx) {
			return
		}
		if err != nil && !passes(err) {
			yield(LogLine{}, err)
			return
		}
		if f.last.After(before) {
			pause = followPause
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, followPauseMax)
		case <-ctx.Done():
		}
	}
}

// errEnough is for a caller that has seen enough.
var errEnough = errors.New("enough")

// passes reports whether it makes sense to ask again: not where the server understood and refused.
func passes(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= 500 || status.Status().Code == 429
}

// hasEnded reports whether the container has ended for good or for now; a log ends with that, and
// with a connection that is cut in a clean way.
func (f *follower) hasEnded(ctx context.Context) bool {
	pod, err := f.pods.Get(ctx, f.name)
	if apierrors.IsNotFound(err) || f.Previous {
		return true
	}
	if err != nil {
		return false
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for _, c := range list {
			if c.Name == f.Container || f.Container == "" && len(pod.Spec.Containers) == 1 && c.Name == pod.Spec.Containers[0].Name {
				return c.State.Running == nil
			}
		}
	}
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// once reads one connection; clean says that it came to a regular end.
func (f *follower) once(ctx context.Context, yield func(LogLine, error) bool) (clean bool, err error) {
	o := f.LogOptions
	skip := map[string]int{}
	if !f.last.IsZero() {
		o.Since, o.SinceTime, o.TailLines = 0, f.last, nil
		for text, n := range f.seen {
			skip[text] = n
		}
	}
	stream, err := LogStream(ctx, f.pods, f.name, &o)
	if err != nil {
		return false, err
	}
	defer stream.Close()
	r := bufio.NewReaderSize(stream, chunk)
	for {
		text, err := r.ReadString('\n')
		if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
			return errors.Is(err, io.EOF), err
		}
		line := parseLine(strings.TrimSuffix(text, "\n"))
		if f.isNew(line, skip) && !yield(line, nil) {
			return false, errEnough
		}
	}
}

func (f *follower) isNew(line LogLine, skip map[string]int) bool {
	switch {
	case line.Time.Before(f.last) && !line.Time.IsZero():
		return false
	case line.Time.Equal(f.last) && skip[line.Text] > 0:
		skip[line.Text]--
		return false
	case line.Time.After(f.last):
		f.last, f.seen = line.Time, map[string]int{}
	}
	if f.seen != nil {
		f.seen[line.Text]++
	}
	return true
}

func parseLine(text string) LogLine {
	stamp, rest, _ := strings.Cut(text, " ")
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return LogLine{Text: text} // a message of the kubelet's
	}
	return LogLine{t, rest}
}
