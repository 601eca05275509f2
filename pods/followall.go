package pods

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/go-kube/kube"
	corev1 "k8s.io/api/core/v1"
)

// FollowAllLogs goes through the lines of all containers of the pod called name, those to come
// included, as [FollowLogs] does for one: of its init containers, its ordinary ones, and the
// ephemeral ones that it has at the start. Lines of one container are in order, and come between
// those of the others as they arrive. A container that has yet to start is waited for.
//
// The sequence ends when every container has ended, or ctx has, which is the last error then. What
// is refused for one container is yielded with its name, and the others go on. LimitBytes is for
// each. opts.Container has to be empty.
func FollowAllLogs(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) iter.Seq2[LogLine, error] {
	all := follower{pods: pods, name: name, wait: true}
	if opts != nil {
		all.LogOptions = *opts
	}
	all.Follow, all.Timestamps = true, true
	return func(yield func(LogLine, error) bool) {
		containers, err := all.containers(ctx)
		if err != nil {
			yield(LogLine{}, err)
			return
		}
		all.runAll(ctx, containers, yield)
	}
}

func (f *follower) containers(ctx context.Context) ([]string, error) {
	if f.Container != "" {
		return nil, fmt.Errorf("pods: Container is %q; leave it empty for the logs of all, or use FollowLogs", f.Container)
	}
	if _, err := f.query(); err != nil {
		return nil, err
	}
	pod, err := f.pods.Get(ctx, f.name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	return names, nil
}

// found is what a follower of one container has to say.
type found struct {
	line LogLine
	err  error
}

// runAll follows each container in a goroutine of its own, and yields what they find.
func (f *follower) runAll(ctx context.Context, containers []string, yield func(LogLine, error) bool) {
	inner, cancel := context.WithCancel(ctx)
	lines := make(chan found)
	var wg sync.WaitGroup
	for _, name := range containers {
		one := *f
		one.Container = name
		wg.Go(func() {
			one.run(inner, func(line LogLine, err error) bool {
				line.Container = name
				select {
				case lines <- found{line, err}:
					return true
				case <-inner.Done():
					return false
				}
			})
		})
	}
	go func() {
		wg.Wait()
		close(lines)
	}()
	enough := false
	for l := range lines {
		if enough || ctx.Err() != nil && errors.Is(l.err, context.Cause(ctx)) {
			continue // said once, below
		}
		if !yield(l.line, l.err) {
			enough = true
			cancel()
		}
	}
	cancel()
	if ctx.Err() != nil && !enough {
		yield(LogLine{}, fmt.Errorf("pods: logs of %s: %w", served{f.pods, f.name}, context.Cause(ctx)))
	}
}
