package resource_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apimachineryversion "k8s.io/apimachinery/pkg/version"

	"github.com/go-kube/kube/resource"
)

func TestParseVersion(t *testing.T) {
	version := func(name string, stability resource.Stability, major uint64, minor int64) resource.Version {
		return resource.Version{Name: name, Stability: stability, Major: major, Minor: minor}
	}
	for _, want := range []resource.Version{
		version("v1", resource.Stable, 1, -1),
		version("v3", resource.Stable, 3, -1),
		version("v10", resource.Stable, 10, -1),
		version("v0", resource.Stable, 0, -1),
		version("v1beta", resource.Beta, 1, -1),
		version("v1beta0", resource.Beta, 1, 0),
		version("v2alpha1", resource.Alpha, 2, 1),
		version("v10beta12", resource.Beta, 10, 12),
		version("v10alpha", resource.Alpha, 10, -1),
		version("", resource.Nonconformant, 0, -1),
		version("foo", resource.Nonconformant, 0, -1),
		version("v", resource.Nonconformant, 0, -1),
		version("v-1", resource.Nonconformant, 0, -1),
		version("v+1", resource.Nonconformant, 0, -1),
		version("1", resource.Nonconformant, 0, -1),
		version("V1", resource.Nonconformant, 0, -1),
		version("valpha", resource.Nonconformant, 0, -1),
		version("vbeta3", resource.Nonconformant, 0, -1),
		version("vv1", resource.Nonconformant, 0, -1),
		version("v1alpha1hi", resource.Nonconformant, 0, -1),
		version("v1alpha-1", resource.Nonconformant, 0, -1),
		version("v1zeta3", resource.Nonconformant, 0, -1),
		version("v1.2", resource.Nonconformant, 0, -1),
		version("v99999999999999999999", resource.Nonconformant, 0, -1),
		version("v1beta99999999999999999999", resource.Nonconformant, 0, -1),
	} {
		if diff := cmp.Diff(want, resource.ParseVersion(want.Name)); diff != "" {
			t.Errorf("ParseVersion(%q) (-want +got):\n%s", want.Name, diff)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	for _, test := range []struct {
		what    string
		compare func(a, b string) int
		sorted  []string
	}{
		{"priority", resource.CompareVersions, []string{"v2", "v1", "v2beta3", "v2beta2", "v3alpha2", "hi"}},
		{"priority, as Kubernetes documents it", resource.CompareVersions, []string{
			"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10",
		}},
		{"priority of stability over everything", resource.CompareVersions, []string{"v1", "v2beta1", "v3alpha1", "a"}},
		{"priority without a minor number", resource.CompareVersions, []string{"v1beta1", "v1beta0", "v1beta", "v1alpha1", "v1alpha"}},
		{"priority of two names of one version", resource.CompareVersions, []string{"v01", "v1"}},
		{"generation", resource.CompareVersionsByGeneration, []string{"v3alpha2", "v2", "v2beta3", "v2beta2", "v1", "hi"}},
		{"generation of nonconformant names", resource.CompareVersionsByGeneration, []string{"v0alpha", "foo1", "foo10", "v1x"}},
		{"generation without a minor number", resource.CompareVersionsByGeneration, []string{"v1", "v1beta1", "v1beta", "v1alpha1", "v1alpha"}},
	} {
		t.Run(test.what, func(t *testing.T) {
			for i, a := range test.sorted {
				for j, b := range test.sorted {
					if got := test.compare(a, b); sign(got) != sign(i-j) {
						t.Errorf("compare(%q, %q) = %d", a, b, got)
					}
				}
			}
			shuffled := slices.Sorted(slices.Values(test.sorted))
			slices.SortFunc(shuffled, test.compare)
			if diff := cmp.Diff(test.sorted, shuffled); diff != "" {
				t.Errorf("sorted (-want +got):\n%s", diff)
			}
		})
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

func FuzzCompareVersions(f *testing.F) {
	for _, seed := range [][2]string{{"v1", "v2"}, {"v1beta1", "v1alpha2"}, {"foo", "v1"}, {"", "v1beta"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		got := resource.CompareVersions(a, b)
		if back := resource.CompareVersions(b, a); sign(got) != -sign(back) {
			t.Errorf("CompareVersions(%q, %q) = %d, the other way round %d", a, b, got, back)
		}
		if (got == 0) != (a == b) {
			t.Errorf("CompareVersions(%q, %q) = %d", a, b, got)
		}
		if differs(a) || differs(b) {
			return
		}
		if want := -apimachineryversion.CompareKubeAwareVersionStrings(a, b); want != 0 && sign(got) != sign(want) {
			t.Errorf("CompareVersions(%q, %q) = %d, the API server's order is %d", a, b, got, want)
		}
	})
}

// differs reports whether the API server reads the name of a version in another way: it wants
// a number after alpha and beta, which Kubernetes' documentation does not, and its numbers
// end earlier, so that they overflow when it subtracts them.
func differs(version string) bool {
	v := resource.ParseVersion(version)
	return v.Stability != resource.Nonconformant &&
		(strings.HasSuffix(version, "alpha") || strings.HasSuffix(version, "beta") || v.Major > 1<<62)
}
