package wire

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// lent reads a body with objects that are lent, and returns their clones, made while they were valid.
func lent(t *testing.T, format Format, keepManaged bool, r io.Reader) (clones []Object) {
	t.Helper()
	opts := &Options{Transient: true, KeepManagedFields: keepManaged}
	if _, err := ReadList(r, format, opts, func(o Object) error {
		clones = append(clones, o.CloneTo(nil))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return clones
}

func wantObjects(t *testing.T, got, want []Object) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d objects, want %d", len(got), len(want))
	}
	for i := range want {
		if diff := cmp.Diff(string(want[i].Bytes()), string(got[i].Bytes())); diff != "" {
			t.Fatalf("object %d: bytes (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(metadata(want[i]), metadata(got[i])); diff != "" {
			t.Fatalf("object %d: metadata (-want +got):\n%s", i, diff)
		}
	}
}

func TestTransientList(t *testing.T) {
	for _, format := range formats {
		for _, keepManaged := range []bool{false, true} { // with and without parts that are left out
			body := listBody(format, podList(50))
			_, want := collect(t, bytes.NewReader(body), format, &Options{KeepManagedFields: keepManaged})
			wantObjects(t, lent(t, format, keepManaged, bytes.NewReader(body)), want)
			wantObjects(t, lent(t, format, keepManaged, iotest.HalfReader(bytes.NewReader(body))), want)
		}
	}
}

func TestTransientWatch(t *testing.T) {
	for _, format := range formats {
		var body []byte
		var want []Object
		for i := range 50 {
			body = append(body, eventBody(format, "ADDED", "v1", "Pod", makePod(i))...)
		}
		for _, e := range events(t, bytes.NewReader(body), format) {
			want = append(want, e.Object)
		}
		var got []Object
		r := newReader(t, bytes.NewReader(body), format, &Options{Transient: true})
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Object.CloneTo(nil))
		}
		wantObjects(t, got, want)
	}
}

// What is lent can be compared with what is kept, and packed, without a copy of it.
func TestTransientIsPackedAndCompared(t *testing.T) {
	for _, format := range formats {
		body := listBody(format, podList(300))
		p := NewPacker()
		var kept []Object
		read := func(visit func(i int, o Object)) {
			i := 0
			if _, err := ReadList(bytes.NewReader(body), format, &Options{Transient: true}, func(o Object) error {
				visit(i, o)
				i++
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		read(func(_ int, o Object) {
			packed, ok := p.Pack(o, ownMemory)
			if !ok {
				packed = o.CloneTo(nil)
			}
			kept = append(kept, packed)
		})
		_, want := collect(t, bytes.NewReader(body), format, nil)
		wantObjects(t, kept, want)
		same := func(i int, o Object) {
			if !kept[i].SameBytes(&o) || !o.SameBytes(&kept[i]) {
				t.Errorf("%v: object %d is not the same as before", format, i)
			}
			if other := kept[(i+1)%len(kept)]; other.SameBytes(&o) || o.SameBytes(&other) {
				t.Errorf("%v: object %d is the same as the next", format, i)
			}
		}
		read(same)
		if allocs := testing.AllocsPerRun(3, func() { read(func(int, Object) {}) }); allocs > 30 {
			t.Errorf("%v: reading 300 objects that nobody keeps takes %v allocations", format, allocs)
		}
	}
}

// A difference in any place of a packed object is found.
func TestPackedObjectDiffers(t *testing.T) {
	for _, format := range formats {
		p := NewPacker()
		all := pods(t, format, 3)
		p.Pack(all[0], ownMemory)
		p.Pack(all[1], ownMemory)
		packed, ok := p.Pack(all[2], ownMemory)
		if !ok {
			t.Fatal("not packed")
		}
		data := []byte(all[2].data)
		for i := range data {
			data[i] ^= 1
			other := all[2]
			other.data = string(data)
			if packed.SameBytes(&other) || other.SameBytes(&packed) {
				t.Fatalf("%v: byte %d differs, and nobody noticed", format, i)
			}
			data[i] ^= 1
		}
		for _, text := range []string{all[2].data[:len(data)-1], all[2].data + "x", ""} {
			if packed.unpacksTo(text) {
				t.Errorf("%v: %d bytes are the same as %d", format, len(text), len(data))
			}
		}
	}
}
