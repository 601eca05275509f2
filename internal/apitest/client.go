package apitest

import "github.com/go-kube/kube"

// Config returns a new configuration of a client for this server. Its requests are sent
// once: a test that is not about retries should see each one.
func (s *Server) Config() *kube.Config {
	return &kube.Config{
		Server:       "http://apitest.invalid",
		Dial:         s.network.DialContext,
		Protocols:    protocols(s.http2),
		DisableRetry: true,
	}
}

// Client returns a client for this server, the same one each time. It is closed when the test
// ends.
func (s *Server) Client() *kube.Client {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		client, err := kube.NewClient(s.Config())
		if err != nil {
			s.t.Fatalf("apitest: %v", err)
		}
		s.client = client
	}
	return s.client
}
