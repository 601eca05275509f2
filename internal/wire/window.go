package wire

import (
	"io"
	"sync"
)

const (
	// windowSize is the size of a pooled read buffer: a dozen objects of the usual size, so
	// that few of them straddle its end and have to be moved.
	windowSize = 64 << 10
	// probeSize is what an idle watch holds while it waits for bytes.
	probeSize = 512
	// poolMost is the largest buffer that goes back to the pool; one large object must not
	// stay in memory for ever.
	poolMost = 1 << 20
)

// window is the part of a body that is in memory. Bytes before mark are done with; the
// buffer slides and grows so that everything from mark on stays in one piece. Positions are
// remembered relative to mark, since they survive a slide only in that form.
//
// Over bytes that are in memory already (src is nil), it never slides.
type window struct {
	src  io.Reader
	buf  []byte  // what was read: buf[:len] is valid
	box  *[]byte // what buf came out of the pool in
	mark int     // start of what has to stay
	pos  int     // next byte to look at; mark ≤ pos ≤ len(buf)
	gone int64   // bytes of the body before buf[0]
	max  int64   // most bytes that may stay
	err  error   // what src said last; it is returned once buf is used up

	probe [probeSize]byte
}

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, windowSize)
	return &b
}}

// offset is the position in the body.
func (w *window) offset() int64 { return w.gone + int64(w.pos) }

// release says that nothing before pos is needed any more.
func (w *window) release() { w.mark = w.pos }

// kept returns what was kept since mark up to pos. It is valid until the next fill.
func (w *window) kept() []byte { return w.buf[w.mark:w.pos] }

// fill reads at least one more byte, or says why it cannot. It may move the buffer: positions
// and slices taken before are void, those relative to mark hold.
func (w *window) fill() error {
	if w.src == nil {
		return io.EOF
	}
	if w.err != nil {
		return w.err
	}
	if int64(len(w.buf)-w.mark) > w.max {
		return &TooLargeError{w.max}
	}
	if w.mark == len(w.buf) {
		return w.fillEmpty()
	}
	w.makeRoom()
	return w.read()
}

// fillEmpty waits for bytes with nothing in hand, which is where an idle watch spends its
// life: it holds no buffer while it does.
func (w *window) fillEmpty() error {
	w.drop()
	for range 100 {
		n, err := w.src.Read(w.probe[:])
		w.err = err
		if n > 0 {
			w.box = buffers.Get().(*[]byte)
			w.buf = append(*w.box, w.probe[:n]...)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// read appends to the buffer, which has room.
func (w *window) read() error {
	for range 100 {
		n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		w.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// makeRoom slides what is kept to the front, and doubles the buffer when that alone fills it.
// Room is made early, so that reads do not become tiny at the end of the buffer.
func (w *window) makeRoom() {
	if cap(w.buf)-len(w.buf) >= cap(w.buf)/4 {
		return
	}
	kept := w.buf[w.mark:]
	if len(kept) > cap(w.buf)/2 {
		grown := append(make([]byte, 0, 2*cap(w.buf)), kept...)
		w.recycle()
		w.buf, w.box = grown, &grown
	} else {
		w.buf = append(w.buf[:0], kept...)
	}
	w.gone += int64(w.mark)
	w.pos -= w.mark
	w.mark = 0
}

// drop gives the buffer, of which nothing is needed, back.
func (w *window) drop() {
	w.gone += int64(w.pos)
	w.recycle()
	w.buf, w.pos, w.mark = nil, 0, 0
}

// recycle puts the buffer into the pool. Whoever calls it sets buf anew.
func (w *window) recycle() {
	if w.box != nil && cap(w.buf) <= poolMost {
		*w.box = w.buf[:0]
		buffers.Put(w.box)
	}
	w.box = nil
}

// need makes sure that n bytes from pos on are in memory.
func (w *window) need(n int64) error {
	if n > w.max {
		return &TooLargeError{w.max}
	}
	for int64(len(w.buf)-w.pos) < n {
		if err := w.fill(); err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// discard skips n bytes that nobody wants to see.
func (w *window) discard(n int64) error {
	for {
		here := int64(len(w.buf) - w.pos)
		if n <= here {
			w.pos += int(n)
			w.release()
			return nil
		}
		n -= here
		w.pos = len(w.buf)
		w.release()
		if err := w.fill(); err != nil {
			return unexpected(err)
		}
	}
}

// more reports whether a byte is left at pos, reading one if it has to. The error is io.EOF
// at the end of the body.
func (w *window) more() error {
	if w.pos < len(w.buf) {
		return nil
	}
	return w.fill()
}
