package controller

// planned is a place in the heap. The time stands here and not only in the entry so that
// sifting compares neighbours in one array, without following pointers.
type planned[K comparable] struct {
	at    moment
	order uint64 // of equal times, the one that was planned first comes first
	entry *entry[K]
}

func (p planned[K]) before(q planned[K]) bool {
	return p.at < q.at || p.at == q.at && p.order < q.order
}

// arity of the heap: four children make it half as deep as two, and they share cache lines.
const arity = 4

// timeHeap holds the entries whose time has not come, the earliest at index 0. Each entry
// knows its index, so that one can be moved or taken out from the middle. container/heap
// would box every element.
type timeHeap[K comparable] []planned[K]

func (h *timeHeap[K]) push(p planned[K]) {
	*h = append(*h, p)
	h.up(len(*h) - 1)
}

// remove takes out the element at index i.
func (h *timeHeap[K]) remove(i int) {
	old := *h
	last := len(old) - 1
	moved := old[last]
	old[last] = planned[K]{} // or the array would keep the entry alive
	*h = old[:last]
	if i < last {
		(*h)[i] = moved
		h.settle(i)
	}
}

// settle restores the order after the element at index i changed.
func (h timeHeap[K]) settle(i int) {
	if i > 0 && h[i].before(h[(i-1)/arity]) {
		h.up(i)
		return
	}
	h.down(i)
}

func (h timeHeap[K]) up(i int) {
	p := h[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !p.before(h[parent]) {
			break
		}
		h.set(i, h[parent])
		i = parent
	}
	h.set(i, p)
}

func (h timeHeap[K]) down(i int) {
	p := h[i]
	for {
		child := h.firstChild(i)
		if child < 0 || !h[child].before(p) {
			break
		}
		h.set(i, h[child])
		i = child
	}
	h.set(i, p)
}

// firstChild returns the index of the earliest child of i, or -1 where there is none.
func (h timeHeap[K]) firstChild(i int) int {
	from := i*arity + 1
	if from >= len(h) {
		return -1
	}
	best := from
	for c := from + 1; c < min(from+arity, len(h)); c++ {
		if h[c].before(h[best]) {
			best = c
		}
	}
	return best
}

func (h timeHeap[K]) set(i int, p planned[K]) {
	h[i] = p
	p.entry.index = i
}
