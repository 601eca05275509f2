// Command onekind uses one built-in kind. The test of package k8s looks what is linked.
package main

import (
	"fmt"

	"github.com/go-kube/kube/k8s/core"
)

func main() {
	fmt.Println(core.Pods.Descriptor())
}
