package pods

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-kube/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// LogLine is a line of a log.
type LogLine struct {
	// Container is whose line it is; [FollowAllLogs] sets it.
	Container string
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
// container ended before it. It takes the right to get the pod, which tells whether the container has
// ended. Follow and Timestamps have no effect; LimitBytes counts the texts with
// their line breaks, over all connections, and cuts the last one.
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
	all  bool  // of the pod: the container is waited for, to start and to start again
	read int64 // bytes of the lines that were yielded

	last time.Time
	// seen are the lines with the time last: the server sends them again.
	seen map[string]int
	// half is what stood at the end of a connection without a line break: a line that was cut, and comes
	// again, or the last one of a container that did not end it. What follows tells.
	half *LogLine
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
			yield(LogLine{}, fmt.Errorf("pods: log of %s: %w", served{f.pods, f.name}, context.Cause(ctx)))
			return
		}
		if clean {
			var ended bool
			if ended, err = f.hasEnded(ctx); ended {
				f.flush(yield)
				return
			}
		}
		if err != nil && !passes(err) && !f.isAwaited(ctx, err) {
			if f.flush(yield) && !f.isGone(ctx, err) {
				yield(LogLine{}, err)
			}
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

// hasEnded reports whether the container has ended, for good where all of the pod is followed. A log
// ends with that, and with a connection that is cut in a clean way.
func (f *follower) hasEnded(ctx context.Context) (bool, error) {
	if f.Previous {
		return true, nil
	}
	pod, err := f.pods.Get(ctx, f.name)
	if err != nil {
		return apierrors.IsNotFound(err), err
	}
	status := statusOf(pod, f.Container)
	if status == nil {
		return isOver(pod), nil
	}
	return status.State.Running == nil && !(f.all && willRun(pod, status)), nil
}

// isAwaited reports whether err, which is a refusal, is because the container has yet to start, as
// one has whose pod still runs its init containers, or to start again.
func (f *follower) isAwaited(ctx context.Context, err error) bool {
	if !f.all || !apierrors.IsBadRequest(err) {
		return false
	}
	pod, err := f.pods.Get(ctx, f.name)
	if err != nil {
		return passes(err)
	}
	status := statusOf(pod, f.Container)
	if status == nil {
		return !isOver(pod)
	}
	return status.State.Running == nil && willRun(pod, status)
}

// isGone reports whether err is because the pod, which was there, is not any more.
func (f *follower) isGone(ctx context.Context, err error) bool {
	if !f.all || !apierrors.IsNotFound(err) {
		return false
	}
	_, err = f.pods.Get(ctx, f.name)
	return apierrors.IsNotFound(err)
}

// willRun reports whether a container that does not run is going to, as far as its pod tells.
// See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
func willRun(pod *corev1.Pod, status *corev1.ContainerStatus) bool {
	switch ended := status.State.Terminated; {
	case isOver(pod) || pod.DeletionTimestamp != nil:
		return false
	case ended == nil:
		return true
	default:
		return runsAgain(pod, status.Name, ended.ExitCode == 0)
	}
}

// runsAgain says what the rules of a pod make of the end of a container.
func runsAgain(pod *corev1.Pod, container string, success bool) bool {
	named := func(c corev1.Container) bool { return c.Name == container }
	policy := pod.Spec.RestartPolicy
	var own *corev1.Container
	if i := slices.IndexFunc(pod.Spec.Containers, named); i >= 0 {
		own = &pod.Spec.Containers[i]
	} else if i = slices.IndexFunc(pod.Spec.InitContainers, named); i >= 0 {
		own = &pod.Spec.InitContainers[i]
		if policy == corev1.RestartPolicyAlways {
			policy = corev1.RestartPolicyOnFailure // its success lets the next one start
		}
	} else {
		return false // ephemeral ones have one run
	}
	if own.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*own.RestartPolicy)
	}
	switch {
	case len(own.RestartPolicyRules) > 0:
		return true // by exit codes, which the kubelet judges
	case policy == corev1.RestartPolicyNever:
		return false
	}
	return policy != corev1.RestartPolicyOnFailure || !success
}

func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// statusOf returns that of a container, or of the default one where none is named; nil if there is none.
func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	if container == "" {
		container = defaultContainer(pod)
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return &list[i]
			}
		}
	}
	return nil
}

// once reads one connection; clean says that it came to a regular end.
func (f *follower) once(ctx context.Context, yield func(LogLine, error) bool) (clean bool, err error) {
	o := f.LogOptions
	o.LimitBytes = 0 // the server would begin to count again each time, and would count the times too
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
		line := parseLine(strings.TrimSuffix(text, "\n"))
		if err != nil {
			clean = errors.Is(err, io.EOF)
			if !clean || text == "" || f.isOld(line, skip) {
				return clean, err
			}
			if !f.settle(line, yield) {
				return false, errEnough
			}
			f.half = &line
			return clean, err
		}
		if f.isOld(line, skip) {
			continue
		}
		if !f.settle(line, yield) || !f.show(line, yield) {
			return false, errEnough
		}
	}
}

// settle decides about the half line when next comes: it is the beginning of next, or a line.
func (f *follower) settle(next LogLine, yield func(LogLine, error) bool) bool {
	if f.half != nil && next.Time.Equal(f.half.Time) && strings.HasPrefix(next.Text, f.half.Text) {
		f.half = nil
	}
	return f.flush(yield)
}

// flush shows the half line, if there is one.
func (f *follower) flush(yield func(LogLine, error) bool) bool {
	half := f.half
	f.half = nil
	return half == nil || f.show(*half, yield)
}

// show yields a new line, and reports whether more are wanted.
func (f *follower) show(line LogLine, yield func(LogLine, error) bool) bool {
	if line.Time.After(f.last) {
		f.last, f.seen = line.Time, map[string]int{}
	}
	if f.seen != nil {
		f.seen[line.Text]++
	}
	last := f.limit(&line)
	return yield(line, nil) && !last
}

// limit cuts a line that goes beyond LimitBytes, and reports whether it is the last one.
func (f *follower) limit(line *LogLine) bool {
	if f.LimitBytes == 0 {
		return false
	}
	left := f.LimitBytes - f.read
	f.read += int64(len(line.Text)) + 1
	line.Text = line.Text[:min(int64(len(line.Text)), left)]
	return f.read >= f.LimitBytes
}

// isOld reports whether a line was yielded before. skip counts those of the last time that are still to
// come again.
func (f *follower) isOld(line LogLine, skip map[string]int) bool {
	switch {
	case line.Time.Before(f.last) && !line.Time.IsZero():
		return true
	case line.Time.Equal(f.last) && skip[line.Text] > 0:
		skip[line.Text]--
		return true
	}
	return false
}

func parseLine(text string) LogLine {
	stamp, rest, _ := strings.Cut(text, " ")
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return LogLine{Text: text} // a message of the kubelet's
	}
	return LogLine{Time: t, Text: rest}
}
