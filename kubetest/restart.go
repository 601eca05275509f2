package kubetest

import "errors"

// errDown ends the requests that are being answered when the server goes down.
var errDown = errors.New("the server is going down")

// down returns a channel that is closed when the server stops, restarts or is closed.
func (s *Server) down() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.going
}

// Stop makes the server go away, as a crash does: connections are cut, requests that are being
// answered are lost, and nobody can connect until [Server.Restart]. Objects are kept.
func (s *Server) Stop() {
	s.serving.each(func(n *network) { n.setDown(true) })
	s.interrupt()
}

// Restart starts the server again, after [Server.Stop] or as it runs: connections are cut, and
// the history is lost, so that a watch from before gets 410 Expired if anything has changed
// since the version that it starts from. Objects and resource versions are kept.
func (s *Server) Restart() {
	s.Stop()
	s.Compact()
	s.serving.each(func(n *network) { n.setDown(false) })
}

// Compact forgets the history, as a real server does with what is older than five minutes:
// watches and lists at old resource versions, and lists that are being continued, get 410
// Expired. Watches that are open go on.
func (s *Server) Compact() {
	for _, k := range s.kinds.catalog().tables() {
		k.table.compact()
	}
}

// interrupt cuts all connections, and ends the watches.
func (s *Server) interrupt() {
	s.mu.Lock()
	going := s.going
	s.going = make(chan struct{})
	s.mu.Unlock()
	close(going)
	s.serving.each((*network).cut)
}
