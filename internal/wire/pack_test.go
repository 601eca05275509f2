package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pods returns n pods as objects.
func pods(tb testing.TB, format Format, n int) (all []Object) {
	tb.Helper()
	for i := range n {
		o, err := ReadObject(encodePod(format, makePod(i)), format, nil)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// metadata is what can be read of an object without its other bytes.
func metadata(o Object) []string {
	all := []string{
		o.Namespace(), o.Name(), o.UID(), o.ResourceVersion(), fmt.Sprint(o.Generation()), o.CreationTime().String(),
		o.Format().String(), fmt.Sprint(o.Err()),
	}
	if at, ok := o.DeletionTime(); ok {
		all = append(all, at.String())
	}
	each := func(key, value string) bool { all = append(all, key+"="+value); return true }
	o.EachLabel(each)
	o.EachAnnotation(each)
	o.EachFinalizer(func(f string) bool { all = append(all, f); return true })
	o.EachOwner(func(owner OwnerReference) bool { all = append(all, fmt.Sprint(owner)); return true })
	return all
}

func TestPack(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			p := NewPacker()
			before, after := 0, 0
			for i, o := range pods(t, format, 200) {
				small, ok := p.Pack(o, ownMemory)
				before, after = before+o.Size(), after+small.Size()
				if !ok && i > 0 {
					t.Fatalf("object %d was not packed", i)
				}
				if diff := cmp.Diff(string(o.Bytes()), string(small.Bytes())); diff != "" {
					t.Fatalf("object %d: bytes (-want +got):\n%s", i, diff)
				}
				if diff := cmp.Diff(metadata(o), metadata(small)); diff != "" {
					t.Fatalf("object %d: metadata (-want +got):\n%s", i, diff)
				}
				if !o.SameBytes(&small) || !small.SameBytes(&o) || !small.SameBytes(&small) {
					t.Fatalf("object %d is not the same as before", i)
				}
				if _, again := p.Pack(small, ownMemory); again {
					t.Fatalf("object %d was packed twice", i)
				}
			}
			if after*2 > before {
				t.Errorf("%d bytes were packed to %d, more than half", before, after)
			}
		})
	}
}

// TestPackSameBytes: whether two objects say the same does not depend on when they were packed.
func TestPackSameBytes(t *testing.T) {
	p := NewPacker()
	all := pods(t, JSON, 2)
	one, _ := p.Pack(all[0], ownMemory) // its tail is learnt
	two, _ := p.Pack(all[1], ownMemory)
	p.learn(all[1].data[all[1].routed():])
	again, _ := p.Pack(all[1], ownMemory)
	if !two.SameBytes(&again) || one.SameBytes(&two) || two.SameBytes(&one) || two.SameBytes(&all[0]) {
		t.Error("same objects differ, or different ones are the same")
	}
	other := all[1]
	other.format = Protobuf
	if two.SameBytes(&other) {
		t.Error("objects of two formats are the same")
	}
}

// TestPackLeavesAlone: what is small, broken, or like nothing else stays as it is.
func TestPackLeavesAlone(t *testing.T) {
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyz234567"[rand.IntN(32)]
	}
	for name, text := range map[string]string{
		"metadata alone": `{"metadata":{"name":"x","labels":{"a":"` + strings.Repeat("y", 500) + `"}}}`,
		"broken":         `{"metadata":{"name":7},"spec":"` + strings.Repeat("y", 500) + `"}`,
		"metadata last":  `{"spec":"` + strings.Repeat("y", 500) + `","metadata":{"name":"x"}}`,
		"noise":          `{"metadata":{"name":"x"},"data":"` + string(noise) + `"}`,
	} {
		p := NewPacker()
		p.extra.dictionary.used, p.renewAt = dictionarySize, 1 // nothing is learnt
		o, err := ReadObject([]byte(text), JSON, nil)
		if err != nil {
			t.Fatal(err)
		}
		if small, ok := p.Pack(o, ownMemory); ok || &small.Bytes()[0] != &o.Bytes()[0] {
			t.Errorf("%s: it was packed", name)
		}
	}
}

// tailed returns an object whose bytes behind the metadata are tail.
func tailed(tail string) Object { return Object{data: "head" + tail, name: span{0, 4}} }

// TestPackChanges: a dictionary that fits nothing any more is replaced, but not often, and what
// refers to it is still read.
func TestPackChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	piece := func() string { return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()) }
	p := NewPacker()
	dictionaries := map[*extra]bool{}
	type kept struct {
		object Object
		want   string
	}
	var all []kept
	for range 4 { // generations of objects that have nothing in common
		var shared []string
		for range 400 {
			shared = append(shared, piece())
		}
		for range 5000 {
			var text strings.Builder
			for range 20 {
				text.WriteString(shared[random.IntN(len(shared))])
				if random.IntN(6) == 0 {
					text.WriteString(piece())
				}
			}
			o, _ := p.Pack(tailed(text.String()), ownMemory)
			dictionaries[p.extra] = true
			all = append(all, kept{o, "head" + text.String()})
		}
	}
	for i, k := range all {
		if string(k.object.Bytes()) != k.want {
			t.Fatalf("object %d reads as something else", i)
		}
	}
	if n := len(dictionaries); n < 2 || n > 20 {
		t.Errorf("%d dictionaries, want a few", n)
	}
}

// TestPackAndRead: others read while there is packing. The race detector judges.
func TestPackAndRead(t *testing.T) {
	all := pods(t, Protobuf, 300)
	p := NewPacker()
	var readers sync.WaitGroup
	for i, o := range all {
		small, _ := p.Pack(o, ownMemory)
		readers.Go(func() {
			if !small.SameBytes(&all[i]) {
				t.Errorf("object %d differs", i)
			}
		})
	}
	readers.Wait()
}

func FuzzPack(f *testing.F) {
	f.Add("the quick brown fox jumps over the lazy dog", uint8(7))
	f.Add(strings.Repeat("0123456789abcdef", 40), uint8(3))
	f.Add("", uint8(0))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		p := NewPacker()
		for round := range 5 {
			cut := min(len(text), round*int(step))
			tail := strings.Repeat(text[cut:]+text[:cut], 1+round*100)
			tail = tail[:min(len(tail), 1<<13)]
			o := tailed(tail)
			small, _ := p.Pack(o, ownMemory)
			if string(small.Bytes()) != "head"+tail {
				t.Fatalf("round %d: %q became %q", round, "head"+tail, small.Bytes())
			}
		}
	})
}

func BenchmarkPack(b *testing.B) {
	for _, format := range formats {
		all := pods(b, format, pageSize)
		p := NewPacker()
		var packed []Object
		before, after := 0, 0
		for _, o := range all {
			small, _ := p.Pack(o, ownMemory)
			before, after = before+o.Size(), after+small.Size()
			packed = append(packed, small)
		}
		b.Run(format.String()+"/pack", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Pack(all[i%len(all)], ownMemory)
			}
			b.ReportMetric(float64(before)/pageSize, "B/before")
			b.ReportMetric(float64(after)/pageSize, "B/after")
		})
		b.Run(format.String()+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				packed[i%len(all)].Read(func([]byte) error { return nil })
			}
		})
	}
}

// ownMemory is memory of its own for a packed object.
func ownMemory(int) []byte { return nil }
