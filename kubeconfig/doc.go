// Package kubeconfig reads, merges, changes and writes kubeconfig files: which clusters there
// are, who to be there, and what to choose by default.
//
// Most programs only want a client, and call kube.InferConfig or kube.ConfigFromKubeconfig. This
// package is for those that look into the file: a program that lists contexts, say.
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube/kubeconfig"
//	)
//
//	func main() {
//		c, err := kubeconfig.LoadDefault() // KUBECONFIG, or ~/.kube/config
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, context := range c.Contexts {
//			fmt.Println(context.Name, context.Name == c.CurrentContext)
//		}
//		r, err := c.Resolve(nil) // the current context
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(r.Cluster.Server, r.UserName, r.Namespace)
//	}
//
// [Parse], [Load] and [LoadDefault] give a [Config], which holds what the files say, unknown
// fields included. [Config.Merge] puts two together, [Config.Resolve] chooses, [Config.Encode]
// writes, and [Update] changes a file that others may change too.
//
// Secrets do not show when a value is printed or logged: tokens and passwords are a [Secret],
// certificates and keys [Data], and a [User] prints without either. The one surprise: for the
// same reason encoding/json refuses these types. [Config.Encode] is what writes them.
//
// The format is that of client-go, see
// https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/. What client-go reads is read
// here to the same effect, except that several documents in one file are merged (client-go reads
// the first and drops the rest), that base64 may be wrapped over lines, that data beside a file
// path wins (as the format says; client-go refuses the user), and that a context naming a user
// that does not exist is an error (client-go goes on without credentials).
package kubeconfig
