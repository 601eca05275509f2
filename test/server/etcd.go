package main

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcdURL is a socket in the working directory: no second port, and nobody but the owner of
// the directory can reach the data.
const etcdURL = "unix://etcd.sock"

// startEtcd starts a single member on ./etcd and waits until it leads.
func startEtcd(ctx context.Context) (*embed.Etcd, error) {
	client, err := url.Parse(etcdURL)
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse("unix://peer.sock")
	if err != nil {
		return nil, err
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = "test", "etcd"
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{"stderr"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// A test server has to survive a killed process, not a power cut.
	cfg.UnsafeNoFsync = true
	// There is nobody to agree with: elect at once.
	cfg.TickMs, cfg.ElectionMs = 10, 100

	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-ctx.Done():
		err = fmt.Errorf("stopped before it was ready: %w", ctx.Err())
	}
	etcd.Close()
	return nil, err
}
