package apiserver

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// kubeconfigFile is the kubeconfig in the folder of a server.
const kubeconfigFile = "kubeconfig"

// extensionName is the extension of a cluster in which a kubeconfig says where the folder of
// its server is, so that a process that is only given the kubeconfig finds the rest.
const extensionName = "kube-test"

// Names of the contexts and users in a kubeconfig.
const (
	adminName      = "admin"
	adminTokenName = "admin-token"
	nobodyName     = "nobody"
)

// The part of a kubeconfig that is written and read here. The library under test has a reader
// of its own; the tests must not stand on what they test.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	Users          []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
}

type cluster struct {
	Server     string           `json:"server"`
	CA         []byte           `json:"certificate-authority-data"`
	Extensions []namedExtension `json:"extensions,omitempty"`
}

type namedExtension struct {
	Name      string    `json:"name"`
	Extension extension `json:"extension"`
}

type extension struct {
	Dir string `json:"dir,omitempty"`
}

type namedContext struct {
	Name    string      `json:"name"`
	Context contextSpec `json:"context"`
}

type contextSpec struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

type namedUser struct {
	Name string `json:"name"`
	User user   `json:"user"`
}

type user struct {
	ClientCertificate []byte `json:"client-certificate-data,omitempty"`
	ClientKey         []byte `json:"client-key-data,omitempty"`
	Token             string `json:"token,omitempty"`
}

func writeKubeconfig(path, url, dir string, creds *credentials) error {
	const name = "kube-test"
	k := kubeconfig{
		APIVersion:     "v1",
		Kind:           "Config",
		CurrentContext: adminName,
		Clusters: []namedCluster{{name, cluster{
			Server:     url,
			CA:         creds.ca,
			Extensions: []namedExtension{{extensionName, extension{Dir: dir}}},
		}}},
		Users: []namedUser{
			{adminName, user{ClientCertificate: creds.adminCert, ClientKey: creds.adminKey}},
			{adminTokenName, user{Token: creds.adminToken}},
			{nobodyName, user{Token: creds.nobodyToken}},
		},
	}
	for _, u := range k.Users {
		k.Contexts = append(k.Contexts, namedContext{u.Name, contextSpec{Cluster: name, User: u.Name}})
	}
	data, err := yaml.Marshal(k)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// readKubeconfig reads a kubeconfig that writeKubeconfig wrote.
func readKubeconfig(path string) (url, dir string, creds *credentials, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", nil, err
	}
	var k kubeconfig
	if err := yaml.Unmarshal(data, &k); err != nil {
		return "", "", nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(k.Clusters) != 1 || len(k.Clusters[0].Cluster.Extensions) != 1 ||
		k.Clusters[0].Cluster.Extensions[0].Name != extensionName {
		return "", "", nil, fmt.Errorf("%s is not the kubeconfig of a server of package apiserver: "+
			"it has no cluster with an extension %q", path, extensionName)
	}
	c := k.Clusters[0].Cluster
	creds = &credentials{ca: c.CA}
	for _, u := range k.Users {
		switch u.Name {
		case adminName:
			creds.adminCert, creds.adminKey = u.User.ClientCertificate, u.User.ClientKey
		case adminTokenName:
			creds.adminToken = u.User.Token
		case nobodyName:
			creds.nobodyToken = u.User.Token
		}
	}
	return c.Server, c.Extensions[0].Extension.Dir, creds, nil
}

func kubeconfigPath(dir string) string { return filepath.Join(dir, kubeconfigFile) }
