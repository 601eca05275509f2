package deptest

import "testing"

func TestBelow(t *testing.T) {
	for _, test := range []struct {
		dep, path string
		want      bool
	}{
		{"a/b", "a/b", true},
		{"a/b/c", "a/b", false},
		{"a/b/c", "a/b/...", true},
		{"a/b", "a/b/...", true},
		{"a/bc", "a/b/...", false},
	} {
		if got := below(test.dep, []string{test.path}); got != test.want {
			t.Errorf("below(%q, %q) = %t, want %t", test.dep, test.path, got, test.want)
		}
	}
}
