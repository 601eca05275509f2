package controller

import (
	"encoding/json/v2"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func names(paths []fieldPath) (names []string) {
	for _, p := range paths {
		names = append(names, p.String())
	}
	return names
}

func TestDifferingNamesFields(t *testing.T) {
	before := parsed(t, `{"metadata": {"resourceVersion": "1", "uid": "a", "labels": {"a.b/c": "1"}},
		"status": {"list": [1, 2], "conditions": [{"at": "x", "type": "y"}], "same": 1}}`)
	now := parsed(t, `{"metadata": {"resourceVersion": "2", "uid": "b", "labels": {"a.b/c": "2"}},
		"status": {"list": [1], "conditions": [{"at": "z", "type": "y"}], "same": 1, "new": 1}}`)
	want := []string{`.metadata.labels["a.b/c"]`, ".status.conditions[0].at", ".status.list", ".status.new"}
	if diff := cmp.Diff(want, names(differing(before, now, nil))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if got := names(differing(before, now, inStatus)); !cmp.Equal(got, want[:1]) {
		t.Errorf("without the status %q", got)
	}
}

func TestUndoneIsWhatIsAsItWasLeft(t *testing.T) {
	for _, test := range []struct {
		left, found, now string
		want             []string
	}{
		{`{"a": 1}`, `{"a": 2}`, `{"a": 1}`, []string{".a"}},
		{`{"a": 1}`, `{"a": 1}`, `{"a": 2}`, nil},
		{`{"a": 1}`, `{"a": 2}`, `{"a": 3}`, nil},
		{`{"a": 1}`, `{"a": 2}`, `{"a": 2}`, nil},
		{`{"a": 1}`, `{}`, `{"a": 1}`, []string{".a"}},
		{`{}`, `{"a": 1}`, `{}`, []string{".a"}},
		{`{"a": {"b": 1, "c": 1}}`, `{"a": {"b": 2, "c": 2}}`, `{"a": {"b": 1, "c": 3}}`, []string{".a.b"}},
		{`{"a": {"b": 1}}`, `{}`, `{"a": {"b": 1}}`, []string{".a"}},
		{`{"a": [1, 2]}`, `{"a": [1, 3]}`, `{"a": [1, 2]}`, []string{".a[1]"}},
		{`{"a": [1, 2]}`, `{"a": [1, 2, 3]}`, `{"a": [1, 2]}`, []string{".a"}},
		{`{"a": [1, 2]}`, `{"a": [1, 2, 3]}`, `{"a": [1, 4]}`, nil},
		{`{"metadata": {"generation": 1}}`, `{"metadata": {"generation": 2}}`, `{"metadata": {"generation": 1}}`, nil},
		{`{"spec": {"generation": 1}}`, `{"spec": {"generation": 2}}`, `{"spec": {"generation": 1}}`, []string{".spec.generation"}},
	} {
		got := names(undone(parsed(t, test.left), parsed(t, test.found), parsed(t, test.now)))
		if !cmp.Equal(got, test.want) {
			t.Errorf("undone(%s, %s, %s) = %q, want %q", test.left, test.found, test.now, got, test.want)
		}
	}
}

// The sets are as API servers write them.
func TestManagersOfAField(t *testing.T) {
	object := func(managed string) any {
		return parsed(t, `{"metadata": {"managedFields": [`+managed+`]},
			"spec": {"replicas": 5, "args": ["x", "y"], "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP", "name": "b"}]}}`)
	}
	entry := func(manager, set string) string {
		return fmt.Sprintf(`{"manager": %q, "operation": "Update", "fieldsV1": %s}`, manager, set)
	}
	found := object(entry("scaler", `{"f:spec": {"f:replicas": {}}}`) + "," +
		entry("second", `{"f:spec": {"f:ports": {"k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}}}}}`) + "," +
		entry("setter", `{"f:spec": {"f:args": {"v:\"y\"": {}}}}`) + "," +
		entry("whole", `{"f:spec": {"f:args": {}}}`))
	now := object(entry("whole", `{"f:spec": {"f:args": {}}}`))
	for _, test := range []struct {
		path       fieldPath
		want, lost []string
	}{
		{fieldPath{"spec", "replicas"}, []string{"scaler"}, []string{"scaler"}},
		{fieldPath{"spec", "ports", 1, "name"}, []string{"second"}, []string{"second"}},
		{fieldPath{"spec", "ports", 0, "name"}, nil, nil},
		{fieldPath{"spec", "ports"}, []string{"second"}, []string{"second"}},
		{fieldPath{"spec", "args", 1}, []string{"setter", "whole"}, []string{"setter"}},
		{fieldPath{"spec", "args", 0}, []string{"whole"}, nil},
		{fieldPath{"spec", "other"}, nil, nil},
	} {
		if got := test.path.managers(found); !cmp.Equal(got, test.want) {
			t.Errorf("managers of %s are %q, want %q", test.path, got, test.want)
		}
		if got := test.path.lost(found, now); !cmp.Equal(got, test.lost) {
			t.Errorf("those who lost %s are %q, want %q", test.path, got, test.lost)
		}
	}
}
