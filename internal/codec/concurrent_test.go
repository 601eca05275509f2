package codec

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unused are types that no other test uses, so that their first use is here.
type (
	unusedSpec struct {
		Next  *unusedSpec `json:"next"`
		Free  any         `json:"free"`
		Items []unusedSub `json:"items"`
	}
	unusedSub struct {
		Name  string                `json:"name"`
		Inner map[string]unusedSpec `json:"inner"`
	}
)

// TestConcurrentFirstUse is for the race detector: everything known of types is shared.
func TestConcurrentFirstUse(t *testing.T) {
	const data = `{"apiVersion":"v1","kind":"K","next":{"free":{"a":[1,"x"]}},"items":[{"name":"a","inner":{"b":{}}}]}`
	want := `{"apiVersion":"v1","kind":"K","next":{"free":{"a":[1,"x"]}},"items":[{"name":"a","inner":{"b":{}}}]}`
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			var obj unusedSpec
			if err := DecodeJSON([]byte(data), &obj); err != nil {
				t.Error(err)
			}
			got, err := EncodeApply(&obj, "v1", "K", nil)
			if err != nil || string(got) != want {
				t.Errorf("got %s, %v", got, err)
			}
			if _, err := EncodeApply(&obj, "v1", "K", []string{"next.items"}); err != nil {
				t.Error(err)
			}
			if err := DecodeStrict([]byte(data), new(unusedSpec)); err == nil {
				t.Error("apiVersion and kind are not fields of the type, and were taken")
			}
			if err := DecodeJSON([]byte(data), new(unstructured.Unstructured)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
