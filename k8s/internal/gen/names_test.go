package main

import "testing"

func TestNames(t *testing.T) {
	for _, test := range []struct{ what, got, want string }{
		{"core group", folderOf(""), "core"},
		{"group without a domain", folderOf("apps"), "apps"},
		{"first label", folderOf("rbac.authorization.k8s.io"), "rbac"},
		{"internal cannot be imported", folderOf("internal.apiserver.k8s.io"), "apiserverinternal"},
		{"plural adds s", variableOf("Pod", "pods"), "Pods"},
		{"plural is the kind", variableOf("Endpoints", "endpoints"), "Endpoints"},
		{"plural in -ies", variableOf("NetworkPolicy", "networkpolicies"), "NetworkPolicies"},
		{"plural in -es", variableOf("IPAddress", "ipaddresses"), "IPAddresses"},
		{"initials", variableOf("ServiceCIDR", "servicecidrs"), "ServiceCIDRs"},
		{"one word", subresourceVariableOf("Pod", "eviction"), "PodEviction"},
		{"two words", subresourceVariableOf("Pod", "portforward"), "PodPortForward"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %s, want %s", test.what, test.got, test.want)
		}
	}
}
