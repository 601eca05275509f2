package codec

// The methods here go through JSON without reading it into anything. They take valid JSON and nothing
// else, but for what is in the escapes of strings, of which they take some that are wrong: what is
// skipped for good goes through escapes.

// space skips white space.
func (r *jsonReader) space() {
	for r.at < len(r.data) && r.data[r.at] <= ' ' {
		switch r.data[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// open reads the bracket that begins an object or list, and reports whether something is in it.
// closed says afterwards whether it was ended as it has to be.
func (r *jsonReader) open(begin, end byte) bool {
	if r.at >= len(r.data) || r.data[r.at] != begin || r.depth == deepestJSON {
		r.broken()
		return false
	}
	r.depth++
	r.at++
	r.space()
	if r.at < len(r.data) && r.data[r.at] == end {
		r.at++
		r.depth--
		return false
	}
	return true
}

// more reads what is behind a value in an object or list: a comma, or its end.
func (r *jsonReader) more(end byte) bool {
	r.space()
	if r.at >= len(r.data) {
		r.broken()
		return false
	}
	switch c := r.data[r.at]; c {
	case ',':
		r.at++
		r.space()
		return true
	case end:
		r.at++
		r.depth--
		return false
	}
	r.broken()
	return false
}

// broken ends the reading.
func (r *jsonReader) broken() { r.at = len(r.data) + 1 }

func (r *jsonReader) closed() bool { return r.at <= len(r.data) }

// skip goes through a value.
func (r *jsonReader) skip() bool {
	if r.at >= len(r.data) {
		return false
	}
	switch r.data[r.at] {
	case '"':
		_, ok := r.string()
		return ok
	case '{':
		for more := r.open('{', '}'); more; more = r.more('}') {
			if _, ok := r.name(); !ok || !r.skip() {
				return false
			}
		}
		return r.closed()
	case '[':
		for more := r.open('[', ']'); more; more = r.more(']') {
			if !r.skip() {
				return false
			}
		}
		return r.closed()
	case 'n':
		return r.word("null")
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	}
	_, ok := r.numberEnd()
	return ok
}

// numberEnd goes through a number. A whole one has neither a fraction nor an exponent.
func (r *jsonReader) numberEnd() (whole, ok bool) {
	if r.at < len(r.data) && r.data[r.at] == '-' {
		r.at++
	}
	if r.at < len(r.data) && r.data[r.at] == '0' {
		r.at++
	} else if r.digits() == 0 {
		return false, false
	}
	whole = true
	if r.at < len(r.data) && r.data[r.at] == '.' {
		r.at++
		if whole = false; r.digits() == 0 {
			return false, false
		}
	}
	if r.at < len(r.data) && r.data[r.at]|' ' == 'e' {
		r.at++
		if r.at < len(r.data) && (r.data[r.at] == '+' || r.data[r.at] == '-') {
			r.at++
		}
		if whole = false; r.digits() == 0 {
			return false, false
		}
	}
	return whole, true
}

func (r *jsonReader) digits() (n int) {
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
		n++
	}
	return n
}

// ahead counts the elements of a list from the one that begins at at. In broken JSON it counts something.
func (r *jsonReader) ahead() (n int) {
	n = 1
	for at, depth := r.at, 0; at < len(r.data); at++ {
		switch r.data[at] {
		case '"':
			for at += 1 + plainBytes(r.data[at+1:]); at < len(r.data) && r.data[at] != '"'; at += 1 + plainBytes(r.data[at+1:]) {
				if r.data[at] == '\\' {
					at++
				}
				if at+1 >= len(r.data) {
					return n
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return n
			}
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}
