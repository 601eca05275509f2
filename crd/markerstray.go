package crd

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-kube/kube/internal/suggest"
)

// strays tells of markers that nobody reads, each once. controller-gen passes over them in silence, so
// that packages which are otherwise right may have them.
type strays struct {
	tell func(error)
	mu   sync.Mutex
	told map[string]bool
}

// otherMarkers are those of controller-gen that neither constrain a field nor describe a kind.
var otherMarkers = []string{
	"kubebuilder:object:root", "kubebuilder:object:generate", "kubebuilder:ac:generate", "kubebuilder:ac:output:package",
	"kubebuilder:rbac", "kubebuilder:webhook", "kubebuilder:webhookconfiguration", "kubebuilder:skip", "kubebuilder:scaffold",
	"kubebuilder:validation:Schemaless",
}

// check tells of a marker above a field or type where it has the prefix of kubebuilder, and is none.
func (s *strays) check(text, at string) {
	if s == nil {
		return
	}
	err := strayError(text)
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := (&FieldError{at, err}); !s.told[err.Error()] {
		s.told[err.Error()] = true
		s.tell(err)
	}
}

// strayError returns an error for a marker that looks like one of controller-gen, or nil: all that
// begin as those of validation do, and others that are nearly one.
func strayError(text string) error {
	name, _, hasValue := splitMarker(text)
	name, isKubebuilder := strings.CutPrefix(name, "kubebuilder:")
	word, isValidation := strings.CutPrefix(name, "validation:")
	word = strings.TrimPrefix(word, "items:")
	last := strings.LastIndexByte(word, ':')
	if last > 0 && hasValue { // the last part is the name of an argument
		word = word[:last]
	}
	var known []string
	for _, k := range knownMarkers() {
		k = strings.TrimPrefix(k, "kubebuilder:")
		inner, ofValidation := strings.CutPrefix(k, "validation:")
		if name == k || strings.HasPrefix(name, k+":") || ofValidation && isValidation && inner == word {
			return nil
		}
		if ofValidation == isValidation {
			known = append(known, inner)
		}
	}
	hint := suggest.DidYouMean(word, known)
	if !isKubebuilder || !isValidation && hint == "" {
		return nil // of another tool
	}
	return fmt.Errorf("%s: this is no marker of controller-gen, and has no effect%s", text, hint)
}

func knownMarkers() []string {
	known := slices.Clone(otherMarkers)
	for _, k := range keywords {
		known = append(known, k.markers...)
	}
	for _, k := range kindMarkers {
		known = append(known, k.name)
	}
	return known
}
