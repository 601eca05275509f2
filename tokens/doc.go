// Package tokens asks for tokens of service accounts, as kubectl create token does.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"time"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/tokens"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		token, err := tokens.Request(context.Background(), client, "build", "uploader", &tokens.Options{
//			Audiences: []string{"https://registry.example.com"},
//			Lifetime:  time.Hour,
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println("good until", token.Expires)
//		upload(token.Value)
//	}
//
//	func upload(token string) {}
package tokens
