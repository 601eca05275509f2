package kubeconfig_test

import (
	"fmt"

	"github.com/go-kube/kube/kubeconfig"
)

const file = `
apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster: {server: https://prod.example.com:6443}
users:
- name: admin
  user: {token: very-secret}
contexts:
- name: prod-admin
  context: {cluster: prod, user: admin, namespace: web}
current-context: prod-admin
`

func ExampleConfig_Resolve() {
	c, err := kubeconfig.Parse([]byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := c.Resolve(&kubeconfig.Overrides{Namespace: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Cluster.Server, r.UserName, r.Namespace)
	fmt.Println(r.User) // secrets do not show
	// Output:
	// https://prod.example.com:6443 admin db
	// User{token:[redacted]}
}

func ExampleConfig_Encode() {
	c := &kubeconfig.Config{
		Clusters:       []kubeconfig.NamedCluster{{Name: "dev", Cluster: kubeconfig.Cluster{Server: "https://127.0.0.1:6443"}}},
		Users:          []kubeconfig.NamedUser{{Name: "me", User: kubeconfig.User{Token: "abc"}}},
		Contexts:       []kubeconfig.NamedContext{{Name: "dev", Context: kubeconfig.Context{Cluster: "dev", User: "me"}}},
		CurrentContext: "dev",
	}
	text, err := c.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// apiVersion: v1
	// clusters:
	// - cluster:
	//     server: https://127.0.0.1:6443
	//   name: dev
	// contexts:
	// - context:
	//     cluster: dev
	//     user: me
	//   name: dev
	// current-context: dev
	// kind: Config
	// users:
	// - name: me
	//   user:
	//     token: abc
}
