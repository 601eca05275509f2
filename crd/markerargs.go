package crd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"github.com/go-kube/kube/internal/suggest"
)

// The arguments of markers are written as controller-gen reads them:
//
//	marker = "+" name [ "=" value ] | "+" name ":" argument "=" value { "," argument "=" value }
//	value  = number | true | false | string | list | map
//	string = a Go string, or bare words up to "," ";" or "}"
//	list   = "{" value { "," value } "}" | value ";" value { ";" value }
//	map    = "{" string ":" value { "," string ":" value } "}"

// argKind is what an argument of a marker has to be.
type argKind uint8

const (
	argNone argKind = iota // the marker stands alone
	argInt
	argNumber
	argBool
	argString
	argStrings
	argAny
	argAnys
	argMap
)

// argReader reads the part of a marker behind "=".
type argReader struct {
	scanner.Scanner
	raw string
	err error
}

func newArgReader(raw string) *argReader {
	r := &argReader{raw: raw}
	r.Init(strings.NewReader(raw))
	r.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings | scanner.ScanRawStrings | scanner.SkipComments
	r.Error = func(_ *scanner.Scanner, message string) { r.fail("%s", message) }
	return r
}

func (r *argReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// peek skips blanks and returns the next character.
func (r *argReader) peek() rune {
	for {
		switch c := r.Peek(); c {
		case ' ', '\t', '\r', '\n':
			r.Next()
		default:
			return c
		}
	}
}

func (r *argReader) expect(want rune) bool {
	if got := r.Scan(); got != want {
		r.fail("expected %s, and found %q", scanner.TokenString(want), r.TokenText())
	}
	return r.err == nil
}

// end fails where something follows.
func (r *argReader) end() {
	if r.Scan() != scanner.EOF {
		r.fail("%q is too much", r.raw[r.Position.Offset:])
	}
}

func (r *argReader) read(kind argKind, inList bool) any {
	switch kind {
	case argInt, argNumber:
		return r.number(kind)
	case argBool:
		return r.boolean()
	case argString:
		return r.text(false)
	case argStrings:
		return r.list(argString)
	case argAny:
		kind, item := r.guess(!inList)
		if kind == argAnys {
			return r.list(item)
		}
		return r.read(kind, inList)
	case argAnys:
		return r.list(argAny)
	case argMap:
		return r.mapping()
	}
	return nil
}

func (r *argReader) number(kind argKind) any {
	sign := ""
	if r.Peek() == '-' {
		r.Scan()
		sign = "-"
	}
	tok := r.Scan()
	text := sign + r.TokenText()
	if kind == argInt {
		n, err := strconv.Atoi(text)
		if tok != scanner.Int || err != nil {
			r.fail("expected a whole number, and found %q", text)
		}
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if tok != scanner.Int && tok != scanner.Float || err != nil {
		r.fail("expected a number, and found %q", text)
	}
	return f
}

func (r *argReader) boolean() any {
	r.Scan()
	switch r.TokenText() {
	case "true":
		return true
	case "false":
		return false
	}
	r.fail("expected true or false, and found %q", r.TokenText())
	return nil
}

// text reads a string: a quoted one, or bare words. The colon ends a key of a map only.
func (r *argReader) text(isKey bool) string {
	mode := r.Mode
	r.Mode &^= scanner.ScanInts | scanner.ScanFloats
	defer func() { r.Mode = mode }()
	if tok := r.Scan(); tok == scanner.String || tok == scanner.RawString {
		text, err := strconv.Unquote(r.TokenText())
		if err != nil {
			r.fail("%s: %v", r.TokenText(), err)
		}
		return text
	}
	ends := []rune{',', ';', '}', scanner.EOF}
	if isKey {
		ends = append(ends, ':')
	}
	start := r.Position.Offset
	for !slices.Contains(ends, r.peek()) {
		r.Scan()
	}
	return r.raw[start:min(len(r.raw), r.Position.Offset+len(r.TokenText()))]
}

func (r *argReader) list(item argKind) any {
	list := []any{}
	if r.peek() == '{' {
		r.Scan()
		for c := r.peek(); c != '}' && c != scanner.EOF && r.err == nil; c = r.peek() {
			list = append(list, r.read(item, true))
			if r.peek() == '}' || !r.expect(',') {
				break
			}
		}
		r.expect('}')
		return list
	}
	for c := r.peek(); c != ',' && c != '}' && c != scanner.EOF && r.err == nil; c = r.peek() {
		list = append(list, r.read(item, true))
		if c := r.peek(); c == ',' || c == '}' || c == scanner.EOF || !r.expect(';') {
			break
		}
	}
	return list
}

func (r *argReader) mapping() any {
	m := map[string]any{}
	r.expect('{')
	for c := r.peek(); c != '}' && c != scanner.EOF && r.err == nil; c = r.peek() {
		key := r.text(true)
		if !r.expect(':') {
			break
		}
		m[key] = r.read(argAny, false)
		if r.peek() == '}' || !r.expect(',') {
			break
		}
	}
	r.expect('}')
	return m
}

// guess says what the next value is, and for a list what its items are.
func (r *argReader) guess(mayBeList bool) (kind, item argKind) {
	rest := r.raw[min(len(r.raw), r.Pos().Offset):]
	if !mayBeList {
		return guessOne(rest)
	}
	kind, item = guessOne(rest)
	ahead := quietReader(rest)
	for {
		switch ahead.Scan() {
		case ';':
			return argAnys, kind
		case ',', scanner.EOF:
			return kind, item
		}
	}
}

// quietReader looks ahead: what is wrong is for the reader proper to say.
func quietReader(raw string) *argReader { return newArgReader(raw) }

func guessOne(raw string) (kind, item argKind) {
	ahead := quietReader(raw)
	switch ahead.peek() {
	case '"', '\'', '`':
		return argString, argNone
	case '{':
		return guessBraces(ahead)
	case 't', 'f':
		if ahead.Scan(); ahead.TokenText() == "true" || ahead.TokenText() == "false" {
			return argBool, argNone
		}
		return argString, argNone
	}
	tok := ahead.Scan()
	if tok == '-' {
		tok = ahead.Scan()
	}
	ends := strings.ContainsRune(",;}", ahead.peek()) || ahead.peek() == scanner.EOF
	switch {
	case ahead.err != nil || !ends:
		return argString, argNone
	case tok == scanner.Int:
		return argInt, argNone
	case tok == scanner.Float:
		return argNumber, argNone
	}
	return argString, argNone
}

// guessBraces tells a map from a list by the colon behind its first string.
func guessBraces(ahead *argReader) (kind, item argKind) {
	ahead.Scan()
	first := ahead.peek()
	rest := ahead.raw[min(len(ahead.raw), ahead.Pos().Offset):]
	item, _ = guessOne(rest)
	if item != argString {
		return argAnys, item
	}
	ahead.text(true)
	if ahead.Scan() == ':' || first == '}' {
		return argMap, argNone
	}
	return argAnys, item
}

// splitMarker splits a marker into its name and what is behind "=".
func splitMarker(text string) (name, rest string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(text, "+"), "=")
}

// deepestMarker is how far lists and maps in a marker may be nested. What stands in braces is guessed
// by reading ahead, which takes too long where there is no end to them.
const deepestMarker = 100

func (r *argReader) checkDepth() {
	ahead := quietReader(r.raw)
	for depth := 0; ; {
		switch ahead.Scan() {
		case scanner.EOF:
			return
		case '{':
			if depth++; depth > deepestMarker {
				r.fail("lists and maps are nested more than %d deep", deepestMarker)
				return
			}
		case '}':
			depth--
		}
	}
}

// readArg reads the value of a marker with one value.
func readArg(rest string, hasValue bool, kind argKind) (any, error) {
	r := newArgReader(rest)
	if !hasValue || rest == "" {
		if kind != argNone {
			return nil, errNoValue
		}
		return nil, nil
	}
	if r.checkDepth(); r.err != nil {
		return nil, r.err
	}
	v := r.read(kind, false)
	r.end()
	return v, r.err
}

// argSpec is a named argument of a marker.
type argSpec struct {
	name     string
	kind     argKind
	required bool
}

// readArgs reads a marker with named arguments: name:a=1,b=2. first is the name of the first.
func readArgs(first, rest string, specs []argSpec) (map[string]any, error) {
	args := map[string]any{}
	text := first + "=" + rest
	if first == "" {
		text = rest
	}
	r := newArgReader(text)
	r.checkDepth()
	for r.err == nil && r.peek() != scanner.EOF {
		if !r.expect(scanner.Ident) {
			break
		}
		name := r.TokenText()
		i := slices.IndexFunc(specs, func(s argSpec) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range specs {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("has no argument %q%s", name, suggest.DidYouMean(name, known))
		}
		if !r.expect('=') {
			break
		}
		args[name] = r.read(specs[i].kind, false)
		if r.err != nil || r.peek() == scanner.EOF || !r.expect(',') {
			break
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, s := range specs {
		if _, ok := args[s.name]; s.required && !ok {
			return nil, fmt.Errorf("needs the argument %q", s.name)
		}
	}
	return args, nil
}
