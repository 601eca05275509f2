// Package csr decides about certificate signing requests, as kubectl certificate does: approve and
// deny.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/csr"
//		"github.com/go-kube/kube/k8s/certificates"
//	)
//
//	func main() {
//		ctx := context.Background()
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		requests, err := client.All(certificates.CertificateSigningRequests).List(ctx, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, r := range requests.Items {
//			if decided, _ := csr.Decision(r); decided || r.Spec.SignerName != "example.com/devices" {
//				continue
//			}
//			if _, err := csr.Approve(ctx, client, r.Name, "DeviceKnown", "its serial number is in the list"); err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println("approved", r.Name)
//		}
//	}
package csr
