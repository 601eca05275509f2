// Package apiserver starts a real kube-apiserver with etcd for tests.
//
// The server is built from the modules k8s.io/kubernetes and go.etcd.io/etcd/server/v3 into one
// program, once per machine and version ([Binary]), and needs nothing but Go. It listens on
// 127.0.0.1, with certificates of its own, is ready within seconds, and ends with the process
// that started it.
//
// Tests of a package share one:
//
//	func TestMain(m *testing.M) { apiserver.Main(m) }
//
//	func TestPods(t *testing.T) {
//		srv := apiserver.Shared(t)
//		namespace := srv.NewNamespace(t)
//		// Connect with the kubeconfig at srv.Kubeconfig(), and work in namespace.
//	}
//
// A test that kills or reconfigures its server takes its own with [Start]. If the environment
// variable KUBE_TEST_SERVER_KUBECONFIG names a kubeconfig, [Shared] uses that server instead of
// starting one, so that one server can serve the tests of many packages:
//
//	go run github.com/go-kube/kube/test/cmd/apiserver -- go test ./...
//
// # What runs
//
// The server is kube-apiserver with its default feature gates and admission plugins, less
// ServiceAccount. It authorizes by RBAC. There is no kube-controller-manager and no kubelet:
// nothing collects garbage by owner references, empties deleted namespaces, rolls out
// Deployments or runs pods. What those do has to be played by the test.
//
// # Users
//
// The kubeconfig has three contexts. The current one, admin, authenticates by a client
// certificate of the group system:masters. admin-token has the same rights through a bearer
// token, and nobody is authenticated by a token but has no rights beyond those of every user.
// [Server.IssueClient] makes certificates for further users.
package apiserver
