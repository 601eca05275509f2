package replay

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/go-kube/kube/bench/internal/measure"
)

const (
	// listVersion is the resource version of the first list. All versions have as many digits, so
	// that those of events can be written into encoded objects.
	listVersion = 2_000_000_000
	// maxTemplates bounds how many objects events are prepared for.
	maxTemplates = 20_000
)

// noTime is where the time of an event goes.
const noTime = "9999999999999999999"

// Objects are what a server serves, encoded. They are safe for concurrent use, and can be shared
// by servers that follow one another.
type Objects struct {
	kind   Kind
	format Format
	// items are the objects as the first list has them, index says where each is by
	// namespace/name.
	items [][]byte
	index map[string]int
	// typeMeta is how the envelope of an object begins.
	typeMeta []byte
	// done is the last of them with measure.DoneLabel.
	done template
	// events are changed objects, spread over all items.
	events []template
}

// template is an encoded object into which a version and a time can be written.
type template struct {
	encoded     []byte
	version, at int // where they begin
}

// Encode prepares n objects.
func Encode(kind Kind, format Format, n int) (*Objects, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d objects: at least 1 is needed", n)
	}
	o := &Objects{
		kind: kind, format: format, items: make([][]byte, n), events: make([]template, min(n, maxTemplates)),
		index: make(map[string]int, n), typeMeta: typeMeta(kind.APIVersion(), kind.Kind),
	}
	names := make([]string, n)
	err := parallel(n, func(i int) (err error) {
		obj := kind.make(i)
		names[i] = obj.GetNamespace() + "/" + obj.GetName()
		obj.SetResourceVersion(strconv.Itoa(listVersion - n + i))
		o.items[i], err = encode(obj, format)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		o.index[name] = i
	}
	err = parallel(len(o.events), func(k int) (err error) {
		o.events[k], err = newTemplate(kind.make(k*(n/len(o.events))), format, listVersion+k+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	last := kind.make(n - 1)
	labels := last.GetLabels()
	labels[measure.DoneLabel] = "true"
	last.SetLabels(labels)
	o.done, err = newTemplate(last, format, listVersion+1)
	return o, err
}

// Len returns the number of objects.
func (o *Objects) Len() int { return len(o.items) }

// Size returns the mean size of an encoded object.
func (o *Objects) Size() int {
	total := 0
	for _, item := range o.items {
		total += len(item)
	}
	return total / len(o.items)
}

func newTemplate(obj object, format Format, version int) (t template, err error) {
	mark := strconv.Itoa(version)
	obj.SetResourceVersion(mark)
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[measure.AtAnnotation] = noTime
	obj.SetAnnotations(annotations)
	if t.encoded, err = encode(obj, format); err != nil {
		return t, err
	}
	t.version, t.at = bytes.Index(t.encoded, []byte(mark)), bytes.Index(t.encoded, []byte(noTime))
	if t.version < 0 || t.at < 0 || bytes.Count(t.encoded, []byte(mark)) != 1 || bytes.Count(t.encoded, []byte(noTime)) != 1 {
		return t, fmt.Errorf("%s %s: version or time is not there exactly once", obj.GetNamespace(), obj.GetName())
	}
	return t, nil
}

// stamp writes a version and a time into encoded, which is a copy of t.encoded.
func (t template) stamp(encoded []byte, version int64, at int64) {
	digits(encoded[t.version:t.version+10], version)
	digits(encoded[t.at:t.at+len(noTime)], at)
}

// digits writes n, with leading zeros.
func digits(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// parallel calls f for all numbers below n and returns an error of one of them.
func parallel(n int, f func(i int) error) error {
	workers := min(n, runtime.GOMAXPROCS(0))
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = f(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
