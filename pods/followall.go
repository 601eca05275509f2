package pods

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/go-kube/kube"
	corev1 "k8s.io/api/core/v1"
)

// lookPause is how often FollowAllLogs looks for containers that the pod did not have before.
const lookPause = 5 * time.Second

// FollowAllLogs goes through the lines of all containers of the pod called name, those to come
// included, as [FollowLogs] does for one: of its init containers, its ordinary ones, and the
// ephemeral ones. For those that are added later, the pod is read every 5 s. Lines of one container
// are in order, and come between those of the others as they arrive. A container that has yet to
// start is waited for, and one that its restart policy lets run again is followed into its next
// run. A run that is over before the one before it was seen to end may be missed: after an end, the
// server is asked again after half a second, and then less and less often, up to every 10 s.
//
// The sequence ends when every container has ended for good, when the pod is gone, or when ctx has
// ended, which is the last error then. What is refused for one container is yielded with its name,
// and the others go on. LimitBytes is for each. opts.Container has to be empty.
func FollowAllLogs(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *LogOptions) iter.Seq2[LogLine, error] {
	all := follower{pods: pods, name: name, all: true}
	if opts != nil {
		all.LogOptions = *opts
	}
	all.Follow, all.Timestamps = true, true
	return func(yield func(LogLine, error) bool) {
		containers, err := all.begin(ctx)
		if err != nil {
			yield(LogLine{}, err)
			return
		}
		all.runAll(ctx, containers, yield)
	}
}

// begin checks the options, and returns the containers that the pod has now.
func (f *follower) begin(ctx context.Context) ([]string, error) {
	if f.Container != "" {
		return nil, fmt.Errorf("pods: Container is %q; leave it empty for the logs of all, or use FollowLogs", f.Container)
	}
	if _, err := f.query(); err != nil {
		return nil, err
	}
	return f.containers(ctx)
}

func (f *follower) containers(ctx context.Context) ([]string, error) {
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

// found is what the goroutines of FollowAllLogs have to say.
type found struct {
	line LogLine
	err  error

	ended      bool     // no more comes from the container of line
	containers []string // that the pod has
}

// crowd follows the containers of a pod, each in a goroutine of its own.
type crowd struct {
	*follower
	ctx    context.Context
	out    chan found
	wg     sync.WaitGroup
	known  map[string]bool
	active int
}

// runAll yields what the followers of the containers find.
func (f *follower) runAll(ctx context.Context, containers []string, yield func(LogLine, error) bool) {
	inner, cancel := context.WithCancel(ctx)
	c := &crowd{follower: f, ctx: inner, out: make(chan found), known: map[string]bool{}}
	defer c.wg.Wait()
	defer cancel()
	c.start(containers)
	c.wg.Go(c.look)
	for c.active > 0 {
		select {
		case l := <-c.out:
			switch {
			case ctx.Err() != nil: // said once, below
			case l.containers != nil:
				c.start(l.containers)
			case l.ended:
				c.active--
			case !yield(l.line, l.err):
				return
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			yield(LogLine{}, fmt.Errorf("pods: logs of %s: %w", served{f.pods, f.name}, context.Cause(ctx)))
			return
		}
	}
}

// start follows those of containers that are new.
func (c *crowd) start(containers []string) {
	for _, name := range containers {
		if c.known[name] {
			continue
		}
		c.known[name] = true
		c.active++
		one := *c.follower
		one.Container = name
		c.wg.Go(func() {
			one.run(c.ctx, func(line LogLine, err error) bool {
				line.Container = name
				return c.send(found{line: line, err: err})
			})
			c.send(found{line: LogLine{Container: name}, ended: true})
		})
	}
}

// send reports whether somebody still listens.
func (c *crowd) send(f found) bool {
	select {
	case c.out <- f:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// look tells from time to time which containers the pod has.
func (c *crowd) look() {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		if names, err := c.containers(c.ctx); err == nil && !c.send(found{containers: names}) {
			return
		}
	}
}
