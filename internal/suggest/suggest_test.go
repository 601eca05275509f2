package suggest_test

import (
	"testing"

	"github.com/go-kube/kube/internal/suggest"
)

func TestDidYouMean(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"minimun", `; did you mean "minimum"?`},
		{"Minimum", `; did you mean "minimum"?`},
		{"mni", `; did you mean "min"?`},
		{"maxi", `; did you mean "maximum"?`},
		{"", ""},
		{"quite-another-thing", ""},
	} {
		if got := suggest.DidYouMean(test.word, []string{"min", "minimum", "maximum"}); got != test.want {
			t.Errorf("DidYouMean(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}
