package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Ports are taken below the ranges from which systems take the source ports of outgoing
// connections (32768 and up on Linux, 49152 and up elsewhere). While the server is down, a
// client that dials its port again and again would otherwise end up connected to itself, and
// the server could not have the port back.
const (
	firstPort = 20000
	lastPort  = 32000
)

// portWait is how long a given port may take to become free.
const portWait = 10 * time.Second

// listen listens on the port, waiting while it is taken, or on a free one if it is 0.
func listen(ctx context.Context, port int) (net.Listener, error) {
	if port == 0 {
		return listenAny(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, portWait)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		listener, err := listenOn(ctx, port)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("port %d is still taken after %v: %w", port, portWait, err)
		case <-tick.C:
		}
	}
}

func listenAny(ctx context.Context) (net.Listener, error) {
	var err error
	for range 100 {
		var listener net.Listener
		listener, err = listenOn(ctx, firstPort+rand.IntN(lastPort-firstPort))
		if err == nil {
			return listener, nil
		}
	}
	return nil, fmt.Errorf("no free port found from %d to %d: %w", firstPort, lastPort, err)
}

func listenOn(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
