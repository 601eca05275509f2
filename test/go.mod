module github.com/go-kube/kube/test

go 1.27

require (
	github.com/gofrs/flock v0.13.2
	github.com/google/go-cmp v0.7.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
