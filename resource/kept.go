package resource

import (
	"slices"
	"unsafe"
)

// newKept returns a new Raw with room for so many bytes behind it: an object that is kept is one piece of memory
// rather than two, so that it is one allocation, and one wait for memory when it is read. room is nil where an
// object is so large that this makes no difference.
func newKept(size int) (raw *Raw, room []byte) {
	i, _ := slices.BinarySearchFunc(keptSizes, size, func(s keptSize, size int) int { return s.size - size })
	if i == len(keptSizes) {
		return new(Raw), nil
	}
	raw, room = keptSizes[i].allocate()
	return raw, room[:size]
}

// keptSize allocates a Raw with room for size bytes.
type keptSize struct {
	size     int
	allocate func() (*Raw, []byte)
}

// keptOf returns what allocates a Raw with the bytes of B, an array of them, behind it.
func keptOf[B any]() keptSize {
	type kept struct {
		raw  Raw
		room B
	}
	return keptSize{int(unsafe.Sizeof(*new(B))), func() (*Raw, []byte) {
		k := new(kept)
		return &k.raw, unsafe.Slice((*byte)(unsafe.Pointer(&k.room)), unsafe.Sizeof(k.room))
	}}
}

// The sizes that Go's allocator has (internal/runtime/gc), less what is in front of the room: the Raw, and
// above 512 bytes a word of the allocator's own. Where these change, some memory is lost, and nothing else.
const (
	before      = int(unsafe.Sizeof(Raw{}))
	beforeLarge = before + int(unsafe.Sizeof(uintptr(0)))
)

var keptSizes = []keptSize{
	keptOf[[160 - before]byte](), keptOf[[192 - before]byte](), keptOf[[224 - before]byte](), keptOf[[256 - before]byte](),
	keptOf[[288 - before]byte](), keptOf[[320 - before]byte](), keptOf[[352 - before]byte](), keptOf[[384 - before]byte](),
	keptOf[[416 - before]byte](), keptOf[[448 - before]byte](), keptOf[[480 - before]byte](), keptOf[[512 - before]byte](),
	keptOf[[576 - beforeLarge]byte](), keptOf[[640 - beforeLarge]byte](), keptOf[[704 - beforeLarge]byte](), keptOf[[768 - beforeLarge]byte](),
	keptOf[[896 - beforeLarge]byte](), keptOf[[1024 - beforeLarge]byte](), keptOf[[1152 - beforeLarge]byte](), keptOf[[1280 - beforeLarge]byte](),
	keptOf[[1408 - beforeLarge]byte](), keptOf[[1536 - beforeLarge]byte](), keptOf[[1792 - beforeLarge]byte](), keptOf[[2048 - beforeLarge]byte](),
	keptOf[[2304 - beforeLarge]byte](), keptOf[[2688 - beforeLarge]byte](), keptOf[[3072 - beforeLarge]byte](), keptOf[[3456 - beforeLarge]byte](),
	keptOf[[4096 - beforeLarge]byte](), keptOf[[4864 - beforeLarge]byte](), keptOf[[5376 - beforeLarge]byte](), keptOf[[6144 - beforeLarge]byte](),
	keptOf[[6784 - beforeLarge]byte](), keptOf[[8192 - beforeLarge]byte](),
}
