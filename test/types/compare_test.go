package types

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-kube/kube/internal/crdtest"
)

// compareVersions compares a version with the one that was derived. Which version is stored is not for
// one of them to say, and the order of required fields says nothing.
func compareVersions(def *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, a answer) []string {
	want := v.DeepCopy()
	want.Storage = true
	names := def.Spec.Names
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	diff := crdtest.Differences("names", tree(names), tree(a.Names))
	diff = append(diff, crdtest.Differences("scope", string(def.Spec.Scope), a.Scope)...)
	return append(diff, crdtest.Differences("", sorted(tree(want)), sorted(tree(a.Version)))...)
}

func tree(v any) (out any) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return err
	}
	return out
}

// sorted sorts the lists of required fields.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if list, ok := inner.([]any); ok && name == "required" {
				sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
			}
			sorted(inner)
		}
	case []any:
		for _, inner := range v {
			sorted(inner)
		}
	}
	return v
}

// tolerated counts what is the same in other words.
var tolerated = map[string]int{}

// compareObjects compares an object with what became of it by decoding and encoding.
func compareObjects(want, got string) []string {
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return []string{err.Error()}
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return []string{err.Error()}
	}
	return objectDifferences("", w, g)
}

func objectDifferences(path string, want, got any) (out []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, k := range crdtest.Keys(w, g) {
			wv, wanted := w[k]
			gv, there := g[k]
			switch {
			case !wanted && isEmpty(gv):
				tolerated["empty objects that types of Kubernetes write ("+k+")"]++
			case !there && wv == nil:
				tolerated["null for what is not there ("+k+")"]++
			default:
				out = append(out, objectDifferences(path+"."+k, wv, gv)...)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			out = append(out, objectDifferences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return out
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	if why := sameInOtherWords(want, got); why != "" {
		tolerated[why]++
		return nil
	}
	return crdtest.Differences(path, want, got)
}

func isEmpty(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}

// sameInOtherWords reports whether two values are one quantity or one time.
func sameInOtherWords(want, got any) string {
	w, g := fmt.Sprint(want), fmt.Sprint(got)
	if wq, err := resource.ParseQuantity(w); err == nil {
		if gq, err := resource.ParseQuantity(g); err == nil && wq.Cmp(gq) == 0 {
			return "quantities in their usual form"
		}
	}
	if wt, err := time.Parse(time.RFC3339, w); err == nil {
		if gt, err := time.Parse(time.RFC3339, g); err == nil && wt.Equal(gt) {
			return "times in their usual form"
		}
	}
	return ""
}
