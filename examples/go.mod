module github.com/go-kube/kube/examples

go 1.27

require github.com/go-kube/kube v0.0.0

replace github.com/go-kube/kube => ../
