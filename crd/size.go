package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// cutDescriptions shortens descriptions as controller-gen does.
func cutDescriptions(s *props, limit int) {
	switch {
	case limit == 0:
		return
	case limit < 0:
		s.Description = ""
	case len(s.Description) > limit:
		s.Description = cutText(s.Description, limit)
	}
	each(s, func(p *props) { cutDescriptions(p, limit) })
}

// cutText cuts at the end of a sentence, or else of a word.
func cutText(text string, limit int) string {
	cut := strings.ToValidUTF8(text[:limit], "")
	if i := strings.LastIndexFunc(cut, func(r rune) bool { return unicode.Is(unicode.STerm, r) }); i > 0 {
		return cut[:i+1]
	}
	if i := strings.LastIndexFunc(cut, unicode.IsSpace); i > 0 {
		cut = cut[:i]
	}
	return cut + "..."
}

// Shrink drops descriptions, those of the deepest fields first and in all versions alike, until a
// definition has at most limit bytes as JSON: see [MaxApplySize]. It is an error where the definition
// is too big without any. [Options].MaxSize does it for one version, Shrink for what [Merge] returns.
func Shrink(def *apiextensionsv1.CustomResourceDefinition, limit int) error {
	depth := 0
	for _, root := range rootsOf(def) {
		depth = max(depth, depthOf(root))
	}
	for ; ; depth-- {
		raw, err := json.Marshal(manifestOf(def))
		switch {
		case err != nil:
			return err
		case len(raw) <= limit:
			return nil
		case depth < 0:
			return fmt.Errorf("the definition has %d bytes without any description, and may have %d", len(raw), limit)
		}
		for _, root := range rootsOf(def) {
			dropBelow(root, depth)
		}
	}
}

// rootsOf returns the schemas of all versions.
func rootsOf(def *apiextensionsv1.CustomResourceDefinition) (roots []*props) {
	for _, v := range def.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			roots = append(roots, v.Schema.OpenAPIV3Schema)
		}
	}
	return roots
}

func depthOf(s *props) (depth int) {
	each(s, func(p *props) { depth = max(depth, 1+depthOf(p)) })
	return depth
}

// dropBelow drops the descriptions from a depth downwards.
func dropBelow(s *props, depth int) {
	if depth <= 0 {
		s.Description = ""
	}
	each(s, func(p *props) { dropBelow(p, depth-1) })
}
