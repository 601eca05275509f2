package cel_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/resource"
)

// FleetSpec has replicas.
type FleetSpec struct {
	Replicas int64 `json:"replicas"`
	Words    []struct {
		Name string `json:"name"`
	} `json:"words,omitempty" schema:"listType=map,listMapKey=name"`
}

// FleetStatus says how many are ready.
type FleetStatus struct {
	Ready int64  `json:"ready" schema:"rule='self >= oldSelf'|'never less'"`
	Phase string `json:"phase,omitempty" schema:"enum=Up|Down"`
}

var Fleets = resource.DefineNamespaced[resource.Object[FleetSpec, FleetStatus]](resource.Info{Group: "example.com", Version: "v1", Kind: "Fleet"})

func fleets(t *testing.T) *cel.Validator {
	t.Helper()
	def, err := crd.For(Fleets, &crd.Options{Scale: &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.ready"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := cel.New(def, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStatus(t *testing.T) {
	v := fleets(t)
	for name, test := range map[string]struct {
		obj, old string
		want     []string
	}{
		"good":      {`{"status":{"ready":2}}`, `{"spec":{"replicas":3},"status":{"ready":1}}`, nil},
		"less":      {`{"status":{"ready":1}}`, `{"spec":{"replicas":3},"status":{"ready":2}}`, []string{`status.ready: Invalid value: 1: never less`}},
		"spec":      {`{"spec":{"replicas":-1},"status":{"ready":1}}`, `{"spec":{"replicas":3}}`, nil},
		"scale":     {`{"status":{"ready":-1}}`, `{"spec":{"replicas":3}}`, []string{`.status.ready: Invalid value: -1: should be a non-negative integer`}},
		"bad spec":  {`{"status":{"ready":1}}`, `{"spec":{"replicas":"x"}}`, nil},
		"ratcheted": {`{"status":{"ready":1,"phase":"Off"}}`, `{"spec":{"replicas":3},"status":{"ready":0,"phase":"Off"}}`, nil},
		"enum": {`{"status":{"ready":1,"phase":"Off"}}`, `{"spec":{"replicas":3}}`, []string{`status.phase: Unsupported value: "Off": supported values: "Up", "Down"`,
			`<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`}},
		"removed": {`{}`, `{"spec":{"replicas":3},"status":{"ready":0}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, faults(t, v.ValidateStatus(t.Context(), []byte(test.obj), []byte(test.old)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if err := validator(t, nil).ValidateStatus(t.Context(), spec(`{}`), spec(`{}`)); err == nil || !strings.Contains(err.Error(), "Range of example.com/v1 has no status subresource") {
		t.Errorf("got %v", err)
	}
}

// A status that is a subresource is not written with the rest.
func TestStatusIsApart(t *testing.T) {
	v := fleets(t)
	if err := v.Validate(t.Context(), []byte(`{"spec":{"replicas":1},"status":{"phase":"Off"}}`)); err != nil {
		t.Errorf("created: %v", err)
	}
	if err := v.ValidateUpdate(t.Context(), []byte(`{"spec":{"replicas":1},"status":{"phase":"Off"}}`), []byte(`{"spec":{"replicas":1},"status":{"ready":1}}`)); err != nil {
		t.Errorf("updated: %v", err)
	}
}

func TestScale(t *testing.T) {
	got := faults(t, fleets(t).Validate(t.Context(), []byte(`{"spec":{"replicas":2147483648}}`)))
	want := []string{`.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Lists with duplicates may keep them, and have more.
func TestListsAreRatcheted(t *testing.T) {
	v := fleets(t)
	twice, once := []byte(`{"spec":{"replicas":1,"words":[{"name":"a"},{"name":"a"}]}}`), []byte(`{"spec":{"replicas":1,"words":[{"name":"a"}]}}`)
	if err := v.ValidateUpdate(t.Context(), twice, twice); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{`spec.words[1]: Duplicate value: {"name":"a"}`}, faults(t, v.ValidateUpdate(t.Context(), twice, once))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
