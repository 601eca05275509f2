package kubeconfig_test

import (
	"fmt"
	"os"
	"path/filepath"

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

func ExampleUpdate() {
	dir, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config")
	if err := os.WriteFile(path, []byte("new-field: kept\ncurrent-context: dev\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	err = kubeconfig.Update(path, func(c *kubeconfig.Config) error {
		c.Contexts = append(c.Contexts, kubeconfig.NamedContext{Name: "prod", Context: kubeconfig.Context{Cluster: "prod", User: "me"}})
		c.CurrentContext = "prod"
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(path)
	fmt.Print(string(text), err)
	// Output:
	// apiVersion: v1
	// clusters: []
	// contexts:
	// - context:
	//     cluster: prod
	//     user: me
	//   name: prod
	// current-context: prod
	// kind: Config
	// new-field: kept
	// users: []
	// <nil>
}
