package resource

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-kube/kube/internal/wire"
)

// TestKeptIsOnePiece: an object that is kept is one allocation with its bytes, and has its own.
func TestKeptIsOnePiece(t *testing.T) {
	d := DefineNamespaced[Metadata[struct{}]](Info{Version: "v1", Kind: "ConfigMap"}).Descriptor()
	for _, size := range []int{0, 1, 100, 400, 1000, 4000, 8000, 20_000, 100_000} {
		body := `{"metadata":{"name":"x"},"data":{"a":"` + strings.Repeat("x", size) + `"}}`
		raw, err := ParseRaw(d, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		kept := raw.Clone()
		runtime.GC()
		if string(kept.Bytes()) != body || kept.Name() != "x" || &kept.Bytes()[0] == &raw.Bytes()[0] {
			t.Errorf("%d bytes: the copy is %.60s", size, kept.Bytes())
		}
		want := 1.0
		if len(body) > keptSizes[len(keptSizes)-1].size {
			want = 2
		}
		if got := testing.AllocsPerRun(100, func() { raw.Clone() }); got != want {
			t.Errorf("%d bytes: %v allocations, want %v", size, got, want)
		}
	}
}

// TestPackedIsOnePiece: the same of packed objects.
func TestPackedIsOnePiece(t *testing.T) {
	d := DefineNamespaced[Metadata[struct{}]](Info{Version: "v1", Kind: "ConfigMap"}).Descriptor()
	body := `{"metadata":{"name":"x"},"data":{"a":"` + strings.Repeat("some text that repeats ", 30) + `"}}`
	raw, err := ParseRaw(d, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	p := wire.NewPacker()
	raw.Pack(p)
	packed := raw.Pack(p)
	if packed == raw || string(packed.Bytes()) != body || packed.Name() != "x" {
		t.Fatalf("the packed object is %s", packed.Bytes())
	}
	if got := testing.AllocsPerRun(100, func() { raw.Pack(p) }); got != 1 {
		t.Errorf("%v allocations", got)
	}
}

// TestKeptSizesAscend: newKept finds the smallest by bisection, and the room of each is right behind its object.
func TestKeptSizesAscend(t *testing.T) {
	last := 0
	for _, s := range keptSizes {
		if s.size <= last {
			t.Errorf("%d comes after %d", s.size, last)
		}
		raw, room := s.allocate()
		if len(room) != s.size || raw == nil || uintptr(unsafe.Pointer(&room[0])) != uintptr(unsafe.Pointer(raw))+unsafe.Sizeof(*raw) {
			t.Errorf("room for %d bytes is not behind the object", s.size)
		}
		last = s.size
	}
}
