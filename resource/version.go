package resource

import (
	"cmp"
	"strconv"
	"strings"
)

// Stability is how far a version has come, by its name.
type Stability uint8

const (
	// Nonconformant versions have names that Kubernetes gives no meaning, such as foo or v1rc2.
	Nonconformant Stability = iota
	// Alpha versions may go without notice: v1alpha1.
	Alpha
	// Beta versions are tested, and may still change: v1beta1.
	Beta
	// Stable versions stay: v1.
	Stable
)

// String returns the word for s: nonconformant, alpha, beta or stable.
func (s Stability) String() string {
	switch s {
	case Stable:
		return "stable"
	case Beta:
		return "beta"
	case Alpha:
		return "alpha"
	default:
		return "nonconformant"
	}
}

// Version is the name of an API version, taken apart. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
type Version struct {
	// Name is the whole name, such as v2beta1.
	Name string
	// Stability is what the name says about it.
	Stability Stability
	// Major is the number after the v; 0 in a nonconformant version.
	Major uint64
	// Minor is the number after alpha or beta, and -1 where there is none.
	Minor int64
}

// ParseVersion takes the name of a version apart: v, a number, and perhaps alpha or beta with or
// without another number. Every other name is a nonconformant version; it is no error. (The
// API server insists on the number after alpha and beta, its documentation does not.)
func ParseVersion(name string) Version {
	nonconformant := Version{Name: name, Minor: -1}
	rest, ok := strings.CutPrefix(name, "v")
	if !ok {
		return nonconformant
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	major, err := strconv.ParseUint(rest[:digits], 10, 64)
	if err != nil {
		return nonconformant
	}
	v := Version{Name: name, Stability: Stable, Major: major, Minor: -1}
	switch rest = rest[digits:]; {
	case rest == "":
		return v
	case strings.HasPrefix(rest, "alpha"):
		v.Stability, rest = Alpha, rest[len("alpha"):]
	case strings.HasPrefix(rest, "beta"):
		v.Stability, rest = Beta, rest[len("beta"):]
	default:
		return nonconformant
	}
	if rest == "" {
		return v
	}
	minor, err := strconv.ParseUint(rest, 10, 63)
	if err != nil {
		return nonconformant
	}
	v.Minor = int64(minor)
	return v
}

// CompareVersions orders the names of versions by Kubernetes' priority, the preferred one
// first: it is negative when a is preferred to b. Stable comes before beta, beta before alpha,
// alpha before nonconformant; then the higher number comes first, while nonconformant names
// are in alphabetical order. v10, v2, v1, v11beta2, v10beta3, v10beta, v12alpha1, foo1, foo10
// is in order. It fits [slices.SortFunc], and slices.MinFunc(versions, CompareVersions) is the
// version to use.
func CompareVersions(a, b string) int {
	x, y := ParseVersion(a), ParseVersion(b)
	return cmp.Or(
		cmp.Compare(y.Stability, x.Stability),
		cmp.Compare(y.Major, x.Major),
		cmp.Compare(y.Minor, x.Minor),
		cmp.Compare(a, b),
	)
}

// CompareVersionsByGeneration orders the names of versions by their major number first, the
// newest first: v3alpha2, v2, v2beta3, v1, foo is in order. It finds where an API is going;
// [CompareVersions] finds the version to use.
func CompareVersionsByGeneration(a, b string) int {
	x, y := ParseVersion(a), ParseVersion(b)
	return cmp.Or(
		cmp.Compare(min(y.Stability, Alpha), min(x.Stability, Alpha)), // nonconformant last
		cmp.Compare(y.Major, x.Major),
		cmp.Compare(y.Stability, x.Stability),
		cmp.Compare(y.Minor, x.Minor),
		cmp.Compare(a, b),
	)
}
