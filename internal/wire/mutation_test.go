package wire

import (
	"encoding/json/v2"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMutations does what the fuzz targets do with bodies that are nearly right: some bytes
// changed, lost or doubled. It is quicker than a fuzzer, and finds what that takes long to find.
func TestMutations(t *testing.T) {
	const rounds = 4000
	r := rand.New(rand.NewPCG(1, 2))
	message := must(seedPod().Marshal())
	objects := seedObjects()
	for range rounds {
		mutateProtobuf(t, mutated(r, message))
		mutateJSON(t, mutated(r, objects[r.IntN(len(objects))]))
	}
	for _, format := range formats {
		list, watch := listBody(format, seedList()), stream(format, seedPod())
		for range rounds / 20 {
			sameTorn(t, mutated(r, list), func(r io.Reader) result { return listOf(r, format) })
			sameTorn(t, mutated(r, watch), func(r io.Reader) result { return watchOf(t, r, format) })
		}
	}
}

func mutateProtobuf(t *testing.T, data []byte) {
	t.Helper()
	o, err := ReadObject(data, Protobuf, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkAccess(t, &o)
	var want metav1.PartialObjectMetadata
	if want.Unmarshal(data) == nil && want.Name != "" {
		compareProtobuf(t, &o, &want)
	}
}

func mutateJSON(t *testing.T, data []byte) {
	t.Helper()
	o, err := ReadObject(data, JSON, nil)
	var whole any
	if json.Unmarshal(data, &whole, reference) != nil {
		return
	}
	if err != nil {
		t.Fatalf("%v of valid JSON: %s", err, data)
	}
	compareJSON(t, &o, data, whole)
}

// mutated returns a copy of b with one to four small changes.
func mutated(r *rand.Rand, b []byte) []byte {
	const punctuation = "\"\\{}[]:,ntf0-.eu "
	b = slices.Clone(b)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(b) - 1)
		switch r.IntN(5) {
		case 0:
			b[i] = byte(r.Uint32())
		case 1:
			b[i] ^= 1 << r.IntN(8)
		case 2:
			if len(b) > 2 {
				b = slices.Delete(b, i, i+1)
			}
		case 3:
			b = slices.Insert(b, i, b[i:i+r.IntN(len(b)-i)]...)
		case 4:
			b[i] = punctuation[r.IntN(len(punctuation))]
		}
	}
	return b
}
