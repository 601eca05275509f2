package main

import (
	"strings"
	"unicode"
)

// folders names the packages of groups whose first label will not do.
var folders = map[string]string{
	"":                          "core",
	"internal.apiserver.k8s.io": "apiserverinternal", // internal folders cannot be imported from outside; the name is that of k8s.io/api
	"resource.k8s.io":           "dra",               // package resource is kube's own: dynamic resource allocation
}

// folderOf names the folder and the package of a group: the first label of its name.
func folderOf(group string) string {
	if folder, ok := folders[group]; ok {
		return folder
	}
	label, _, _ := strings.Cut(group, ".")
	return label
}

// variableOf writes a plural in the letters of its kind: NetworkPolicy, networkpolicies gives
// NetworkPolicies.
func variableOf(kind, plural string) string {
	lower := strings.ToLower(kind)
	n := 0
	for n < len(lower) && n < len(plural) && lower[n] == plural[n] {
		n++
	}
	return kind[:n] + plural[n:]
}

// words splits the names of subresources that are more than one word.
var words = map[string]string{
	"ephemeralcontainers": "EphemeralContainers",
	"portforward":         "PortForward",
}

// subresourceVariableOf names the variable of a subresource: PodEviction.
func subresourceVariableOf(kind, subresource string) string {
	if word, ok := words[subresource]; ok {
		return kind + word
	}
	r := []rune(subresource)
	r[0] = unicode.ToUpper(r[0])
	return kind + string(r)
}
