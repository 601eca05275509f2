package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/test/apiserver"
)

// server is the API server that the demo plays on.
type server interface {
	URL() string
	Kubeconfig() string // a path
	Stop() error
}

// startServer starts a server of the kind with the given name, with its files in dir.
func startServer(ctx context.Context, name, dir string, t *teller) (server, error) {
	switch name {
	case "kubetest":
		t.say("starting kubetest, a Kubernetes %s API in memory, on loopback", kubetest.KubernetesVersion)
		return startMemory(filepath.Join(dir, "kubeconfig"))
	case "real":
		t.say("starting kube-apiserver 1.37 with etcd on loopback")
		return apiserver.Start(ctx, &apiserver.Options{Logf: t.say})
	}
	return nil, fmt.Errorf("there is no server %q: it is kubetest or real", name)
}

// memoryServer is kubetest.
type memoryServer struct {
	*kubetest.Server
	url, kubeconfig string
}

func startMemory(kubeconfig string) (*memoryServer, error) {
	s, err := kubetest.NewServer(nil)
	if err != nil {
		return nil, err
	}
	m := &memoryServer{Server: s, kubeconfig: kubeconfig}
	if err := m.listen(); err != nil {
		s.Close()
		return nil, err
	}
	return m, nil
}

// listen lets other processes in.
func (m *memoryServer) listen() error {
	data, err := m.ListenTLS("127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.kubeconfig, data, 0o600); err != nil {
		return err
	}
	cfg, err := kube.ConfigFromKubeconfig(m.kubeconfig, nil)
	if err != nil {
		return err
	}
	m.url = cfg.Server
	return nil
}

func (m *memoryServer) URL() string { return m.url }

func (m *memoryServer) Kubeconfig() string { return m.kubeconfig }

func (m *memoryServer) Stop() error {
	m.Close()
	return nil
}
