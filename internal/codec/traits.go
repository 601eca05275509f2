package codec

import (
	"encoding"
	jsonv1 "encoding/json"
	"encoding/json/v2"
	"reflect"
	"strings"
	"sync"
)

// decodeOptions are what encoding/json uses, but names have to match by case, and the first
// error ends the decoding and knows where it is. That also saves a first pass over the data.
var decodeOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsonv1.ReportErrorsWithLegacySemantics(false),
)

// decodeSets are the options for each traits value. They are made once: interface values
// decoded by a function of ours cost a look-up per value, so types without any do not pay.
var decodeSets = [...]json.Options{
	plain:                     decodeOptions,
	hasInterfaces:             json.JoinOptions(decodeOptions, json.WithUnmarshalers(interfaceNumbers)),
	malformed:                 json.JoinOptions(decodeOptions, jsonv1.ReportErrorsWithLegacySemantics(true)),
	malformed | hasInterfaces: json.JoinOptions(decodeOptions, jsonv1.ReportErrorsWithLegacySemantics(true), json.WithUnmarshalers(interfaceNumbers)),
}

// traits say how values of a Go type have to be decoded.
type traits uint8

const (
	plain traits = 0
	// hasInterfaces: an interface value can be reached, so numbers have to be looked at.
	hasInterfaces traits = 1 << 0
	// malformed: a struct can be reached that encoding/json tolerates and its successor
	// refuses, such as one with a tag of `json:",inline,omitempty"`.
	malformed traits = 1 << 1
)

func (t traits) options() json.Options { return decodeSets[t] }

var traitsCache sync.Map // of reflect.Type to traits

// traitsOf returns the traits of t, found once per type.
func traitsOf(t reflect.Type) traits {
	if known, ok := traitsCache.Load(t); ok {
		return known.(traits)
	}
	found := traitsWalk{trust: isBuiltIn, seen: make(map[reflect.Type]bool)}.visit(t)
	traitsCache.Store(t, found)
	return found
}

// traitsWalk looks at every type that can be reached from one.
type traitsWalk struct {
	// trust names the types that are known to have no traits. A test looks at all of them.
	trust func(reflect.Type) bool
	// seen are the types that were visited, since types refer to themselves.
	seen map[reflect.Type]bool
}

func (w traitsWalk) visit(t reflect.Type) traits {
	if w.seen[t] || decodesItself(t) {
		return plain
	}
	w.seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return hasInterfaces
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return w.visit(t.Elem())
	case reflect.Struct:
		return w.visitStruct(t)
	}
	return plain
}

func (w traitsWalk) visitStruct(t reflect.Type) traits {
	if w.trust(t) {
		return plain
	}
	found := plain
	if err := json.Unmarshal([]byte("{}"), reflect.New(t).Interface(), decodeOptions); err != nil {
		found = malformed
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() || f.Anonymous {
			found |= w.visit(f.Type)
		}
	}
	return found
}

var builtInModules = []string{
	"k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/apiextensions-apiserver/", "k8s.io/kube-aggregator/",
}

// isBuiltIn reports whether t is declared in a module that defines Kubernetes' own API.
func isBuiltIn(t reflect.Type) bool {
	path := t.PkgPath()
	if !strings.HasPrefix(path, "k8s.io/") {
		return false
	}
	for _, module := range builtInModules {
		if strings.HasPrefix(path, module) {
			return true
		}
	}
	return false
}

var (
	jsonUnmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	jsonUnmarshalerFrom = reflect.TypeFor[json.UnmarshalerFrom]()
	textUnmarshaler     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decodesItself reports whether the type brings its own decoding, which nothing here changes.
func decodesItself(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(jsonUnmarshaler) || p.Implements(jsonUnmarshalerFrom) || p.Implements(textUnmarshaler)
}
