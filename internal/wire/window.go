package wire

import (
	"errors"
	"fmt"
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
	// mostEmptyReads is how often in a row a reader may return nothing and no error.
	mostEmptyReads = 100
)

// window is the part of a body that is in memory. Bytes before mark are done with; the
// buffer slides and grows so that everything from mark on stays in one piece. Positions are
// remembered relative to mark, since they survive a slide only in that form.
type window struct {
	buf  []byte  // what was read: buf[:len] is valid
	mark int     // start of what has to stay
	pos  int     // next byte to look at; mark ≤ pos ≤ len(buf)
	gone int64   // bytes of the body before buf[0]
	src  *source // where more comes from; nil when all is in memory
}

// source is where a body comes from. It is apart from the window so that windows on memory can
// live on the stack.
type source struct {
	r     io.Reader
	err   error   // what r said last; it is returned once the window is used up
	max   int64   // most bytes that a window may keep
	box   *[]byte // what the window's buffer came out of the pool in
	probe [probeSize]byte
}

// buffers are shared by all bodies. They are boxed, since a slice in an interface is an
// allocation.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, windowSize)
	return &b
}}

func newWindow(r io.Reader, opts *Options) window {
	return window{src: &source{r: r, max: opts.MaxObjectBytes}}
}

// offset is the position in the body.
func (w *window) offset() int64 { return w.gone + int64(w.pos) }

// release says that nothing before pos is needed any more.
func (w *window) release() { w.mark = w.pos }

// kept returns what was kept since mark up to pos. It is valid until the next fill.
func (w *window) kept() []byte { return w.buf[w.mark:w.pos] }

// fill reads at least one more byte, or says why it cannot: io.EOF at the end of the body. It
// may move the buffer: positions and slices taken before are void, those relative to mark hold.
func (w *window) fill() error {
	switch s := w.src; {
	case s == nil:
		return io.EOF
	case s.err != nil:
		return s.err
	case int64(len(w.buf)-w.mark) > s.max:
		return &TooLargeError{s.max}
	case w.mark == len(w.buf):
		return w.fillEmpty()
	}
	w.makeRoom()
	return w.fillRest()
}

// fillEmpty waits for bytes with nothing in hand, which is where an idle watch spends its
// life: it holds no buffer while it does.
func (w *window) fillEmpty() error {
	w.drop()
	n, err := w.src.read(w.src.probe[:])
	if n == 0 {
		return err
	}
	w.src.box = buffers.Get().(*[]byte)
	w.buf = append(*w.src.box, w.src.probe[:n]...)
	return nil
}

// fillRest appends to the buffer, which has room.
func (w *window) fillRest() error {
	n, err := w.src.read(w.buf[len(w.buf):cap(w.buf)])
	w.buf = w.buf[:len(w.buf)+n]
	if n == 0 {
		return err
	}
	return nil
}

// read returns as soon as there is something, or an error. io.EOF is then the end of the body
// and nothing else.
func (s *source) read(b []byte) (n int, err error) {
	for range mostEmptyReads {
		n, err := s.r.Read(b)
		if s.err = err; err == io.EOF {
			return n, err
		}
		if errors.Is(err, io.EOF) { // something else came to its end
			s.err = fmt.Errorf("%w: %s", io.ErrUnexpectedEOF, err.Error())
		}
		if n > 0 || err != nil {
			return n, s.err
		}
	}
	s.err = io.ErrNoProgress
	return 0, s.err
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
		w.buf, w.src.box = grown, &grown
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
	if w.src.box != nil && cap(w.buf) <= poolMost {
		*w.src.box = w.buf[:0]
		buffers.Put(w.src.box)
	}
	w.src.box = nil
}

// need makes sure that n bytes from pos on are in memory.
func (w *window) need(n int64) error {
	for int64(len(w.buf)-w.pos) < n {
		if w.src != nil && n > w.src.max {
			return &TooLargeError{w.src.max}
		}
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

// more makes sure that a byte is left at pos. The error is io.EOF at the end of the body.
func (w *window) more() error {
	if w.pos < len(w.buf) {
		return nil
	}
	return w.fill()
}
