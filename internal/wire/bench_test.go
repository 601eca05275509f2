package wire

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"runtime"
	"testing"
)

// pageSize is how many objects the bodies of the benchmarks have: the usual page of a LIST.
const pageSize = 500

// perObject turns the figures of a benchmark that reads a page into those of one object.
func perObject(b *testing.B, body []byte, read func()) {
	b.Helper()
	var before, after runtime.MemStats
	b.SetBytes(int64(len(body)))
	read()
	runtime.ReadMemStats(&before)
	cpu, loops := cpuTime(), 0
	for b.Loop() {
		read()
		loops++
	}
	cpu = cpuTime() - cpu
	runtime.ReadMemStats(&after)
	n := float64(loops) * pageSize
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/obj")
	b.ReportMetric(float64(cpu.Nanoseconds())/n, "cpu-ns/obj")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/obj")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/obj")
	b.ReportMetric(0, "ns/op") // that of a page says nothing
}

func BenchmarkList(b *testing.B) {
	for _, format := range formats {
		body := listBody(format, podList(pageSize))
		b.Run(format.String()+"/wire", func(b *testing.B) {
			perObject(b, body, func() { benchList(b, body, format) })
		})
		b.Run(format.String()+"/apimachinery", func(b *testing.B) {
			p := newPeer(format)
			perObject(b, body, func() { p.list(b, body) })
		})
	}
}

func benchList(b *testing.B, body []byte, format Format) {
	n := 0
	_, err := ReadList(bytes.NewReader(body), format, nil, func(o Object) error {
		n++
		return o.Err()
	})
	if err != nil || n != pageSize {
		b.Fatalf("%d items, %v", n, err)
	}
}

func BenchmarkWatch(b *testing.B) {
	for _, format := range formats {
		var body []byte
		for i := range pageSize {
			body = append(body, eventBody(format, "MODIFIED", "v1", "Pod", makePod(i))...)
		}
		b.Run(format.String()+"/wire", func(b *testing.B) {
			perObject(b, body, func() { benchWatch(b, body, format) })
		})
		b.Run(format.String()+"/apimachinery", func(b *testing.B) {
			p := newPeer(format)
			perObject(b, body, func() { p.watch(b, body) })
		})
	}
}

func benchWatch(b *testing.B, body []byte, format Format) {
	r, err := NewWatchReader(bytes.NewReader(body), format, nil)
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; ; n++ {
		event, err := r.Next()
		if errors.Is(err, io.EOF) && n == pageSize {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		if err := event.Object.Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLabel reads a label of each of many objects.
func BenchmarkLabel(b *testing.B) {
	for _, format := range formats {
		b.Run(format.String(), func(b *testing.B) {
			_, objects := collect(b, bytes.NewReader(listBody(format, podList(20*pageSize))), format, nil)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if app, _ := objects[i%len(objects)].Label("app"); app != "web" {
					b.Fatal(app)
				}
			}
		})
	}
}

// BenchmarkSkipJSON is why the scanner is written by hand: it finds the end of an object, which
// is most of what a list costs.
func BenchmarkSkipJSON(b *testing.B) {
	object := encodePod(JSON, makePod(1))
	b.Run("wire", func(b *testing.B) {
		b.SetBytes(int64(len(object)))
		b.ReportAllocs()
		for b.Loop() {
			w := window{buf: object}
			if _, _, _, err := w.skipValue(); err != nil || w.pos != len(object) {
				b.Fatal(err)
			}
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.SetBytes(int64(len(object)))
		b.ReportAllocs()
		r := bytes.NewReader(nil)
		d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		for b.Loop() {
			r.Reset(object)
			d.Reset(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			if err := d.SkipValue(); err != nil || d.InputOffset() != int64(len(object)) {
				b.Fatal(err)
			}
		}
	})
}
