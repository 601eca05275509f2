package apiserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsInvalid(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		want    string
	}{
		{"port", Options{Port: 65536}, "Options.Port is 65536"},
		{"negative port", Options{Port: -1}, "Options.Port is -1"},
		{"argument", Options{ExtraArgs: []string{"verbose"}}, `Options.ExtraArgs has "verbose"`},
		{"argument without value", Options{ExtraArgs: []string{"--v"}}, `Options.ExtraArgs has "--v"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Start(t.Context(), &test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %s", err, test.want)
			}
		})
	}
}

func TestOptionsFlags(t *testing.T) {
	given := &Options{
		ExtraArgs:    []string{"--v=4"},
		FeatureGates: map[string]bool{"WatchList": false, "AllBeta": true},
	}
	o, err := given.complete()
	if err != nil {
		t.Fatal(err)
	}
	given.ExtraArgs[0], given.FeatureGates["AllBeta"] = "--v=9", false
	want := []string{"--v=4", "--feature-gates=AllBeta=true", "--feature-gates=WatchList=false"}
	if diff := cmp.Diff(want, o.flags()); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

func TestNamespacePrefix(t *testing.T) {
	for test, want := range map[string]string{
		"TestWatch":                              "t-testwatch-",
		"TestWatch/over_HTTP/1.1":                "t-testwatch-over-http-1-1-",
		"TestÄ/ü!":                               "t-test-",
		"Test" + strings.Repeat("x", 90):         "t-test" + strings.Repeat("x", 46) + "-",
		"Test" + strings.Repeat("x", 45) + "/_y": "t-test" + strings.Repeat("x", 45) + "-",
	} {
		if got := namespacePrefix(test); got != want {
			t.Errorf("%s: %q, want %q", test, got, want)
		}
	}
}
