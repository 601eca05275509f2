package kube_test

import (
	"sync"
	"testing"

	"github.com/go-kube/kube"
)

func TestExtensionsBelongToAClient(t *testing.T) {
	type counter struct{ n int }
	type other counter
	newClient := func() *kube.Client {
		client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	one, two := newClient(), newClient()
	seen := make([]*counter, 8)
	var all sync.WaitGroup
	for i := range seen {
		all.Go(func() { seen[i] = one.Extension[counter]() })
	}
	all.Wait()
	seen[0].n = 7
	for i, got := range seen {
		if got != seen[0] {
			t.Errorf("call %d got another value than the first", i)
		}
	}
	if n := two.Extension[counter]().n; n != 0 {
		t.Errorf("another client has %d, want a value of its own", n)
	}
	if n := one.Extension[other]().n; n != 0 {
		t.Errorf("another type has %d, want a value of its own", n)
	}
}
