// Package cel judges custom resources and their definitions in the program, with the libraries
// of the API server: what passes here passes there, and what does not has the same paths and
// messages. It is a module of its own, so that only programs that use it hold these libraries.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube/crd"
//		"github.com/go-kube/kube/crd/cel"
//		"github.com/go-kube/kube/resource"
//	)
//
//	// RangeSpec has a rule over two fields.
//	type RangeSpec struct {
//		_   struct{} `schema:"rule='self.min <= self.max'|'min is above max'"`
//		Min int32    `json:"min"`
//		Max int32    `json:"max"`
//	}
//
//	var Ranges = resource.DefineNamespaced[resource.Object[RangeSpec, struct{}]](resource.Info{
//		Group: "example.com", Version: "v1", Kind: "Range",
//	})
//
//	func main() {
//		definition, err := crd.For(Ranges, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		validator, err := cel.New(definition, "v1")
//		if err != nil {
//			log.Fatal(err)
//		}
//		wrong := resource.New(Ranges, "wrong", RangeSpec{Min: 2, Max: 1})
//		fmt.Println(validator.Validate(context.Background(), wrong))
//	}
package cel
