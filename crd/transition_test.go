package crd_test

import "testing"

func TestTransitionErrors(t *testing.T) {
	type Item struct {
		Name string `json:"name" schema:"immutable"`
	}
	type Spec struct {
		A []Item            `json:"a"`
		B []Item            `json:"b" schema:"listType=map,listMapKey=name"`
		C map[string]Item   `json:"c"`
		D map[string]Item   `json:"d" schema:"mapType=atomic"`
		E Item              `json:"e" schema:"mapType=atomic"`
		F []string          `json:"f" schema:"listType=set,items.immutable"`
		G []string          `json:"g" schema:"immutable"`
		H []string          `json:"h" schema:"items.rule='self != \"oldSelf\" && self != ''oldSelf'''"`
		I map[string][]Item `json:"i" schema:"mapType=atomic"`
	}
	const why = ` needs the old value, and the API server cannot tell which one that was in `
	const end = `: it takes such rules below lists with listType=map and maps that are granular`
	same(t, faults[Spec](t),
		`spec.a[].name: rule "self == oldSelf"`+why+`.spec.a`+end,
		`spec.d{}.name: rule "self == oldSelf"`+why+`.spec.d`+end,
		`spec.e.name: rule "self == oldSelf"`+why+`.spec.e`+end,
		`spec.f[]: rule "self == oldSelf"`+why+`.spec.f`+end,
		`spec.i{}[].name: rule "self == oldSelf"`+why+`.spec.i`+end,
	)
}
