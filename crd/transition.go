package crd

import (
	"go/scanner"
	"go/token"
	"strings"
)

// checkTransitions refuses rules about the old value where the API server cannot tell which
// value that was: below lists whose items have no keys, and below atomic maps. apart is the path of such
// a list or map above s, or empty.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#transition-rules
func (b *builder) checkTransitions(s *props, path, apart string) {
	for _, r := range s.XValidations {
		if apart != "" && strings.Contains(r.Rule, "oldSelf") && usesOldSelf(r.Rule) {
			b.bad.add(strings.TrimPrefix(path, "."), "rule %q needs the old value, and the API server cannot tell which one that was in %s: it takes such rules below lists with listType=map and maps that are granular", r.Rule, apart)
		}
	}
	below := apart
	if s.XMapType != nil && *s.XMapType == "atomic" && apart == "" {
		below = path
	}
	for _, name := range keysOf(s.Properties) {
		p := s.Properties[name]
		b.checkTransitions(&p, path+"."+name, below)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		b.checkTransitions(s.AdditionalProperties.Schema, path+"{}", below)
	}
	if s.Items == nil || s.Items.Schema == nil {
		return
	}
	if (s.XListType == nil || *s.XListType != "map") && apart == "" {
		below = path
	}
	b.checkTransitions(s.Items.Schema, path+"[]", below)
}

// usesOldSelf reports whether an expression names oldSelf, other than in a text. The tokens of CEL
// that matter here are those of Go, but for texts in single quotes.
func usesOldSelf(rule string) bool {
	var s scanner.Scanner
	text := []byte(strings.ReplaceAll(rule, "'", "`"))
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return false
		case tok == token.IDENT && lit == "oldSelf":
			return true
		}
	}
}
