package kube

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// passing are failures of the network that tend to go away.
var passing = []error{
	io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, os.ErrDeadlineExceeded,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN,
}

// net/http has no values or types for these; they are known by their text.
var (
	// lostTexts: the connection broke while the request was under way.
	lostTexts = []string{
		"http: server closed idle connection",
		"http2: client connection lost", // a ping was not answered
		"http2: server sent GOAWAY and closed the connection",
		"net/http: TLS handshake timeout",
	}
	// unsentTexts: HTTP/2 promises that the server has not looked at the request.
	unsentTexts = []string{
		"http2: Transport received Server's graceful shutdown GOAWAY",
		"http2: client conn is closed",
		"http2: client conn not usable",
		"http2: client conn could not be established",
	}
)

// http2StreamError has the shape of net/http's unexported type, which errors.As converts to it.
type http2StreamError struct {
	StreamID uint32
	Code     http2Code
	Cause    error
}

func (e http2StreamError) Error() string { return "stream error" }

type http2Code uint32

// See RFC 9113, 7.
const (
	http2InternalError   http2Code = 0x2
	http2RefusedStream   http2Code = 0x7
	http2EnhanceYourCalm http2Code = 0xb
)

// lostConnection reports whether err is a passing failure of the network. Names that do not
// exist, certificates that are not accepted and addresses that make no sense are not.
func lostConnection(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary || dns.IsTimeout
	}
	if stream, ok := errors.AsType[http2StreamError](err); ok {
		return slices.Contains([]http2Code{http2InternalError, http2RefusedStream, http2EnhanceYourCalm}, stream.Code)
	}
	if slices.ContainsFunc(passing, func(target error) bool { return errors.Is(err, target) }) {
		return true
	}
	return hasText(err, lostTexts) || hasText(err, unsentTexts) || isTimeout(err)
}

// neverSent reports whether err by itself says that the server has seen nothing of the
// request, and is a passing failure.
func neverSent(err error) bool {
	if stream, ok := errors.AsType[http2StreamError](err); ok {
		return stream.Code == http2RefusedStream
	}
	return hasText(err, unsentTexts) || isDial(err) && lostConnection(err)
}

// isDial reports whether there was not even a connection.
func isDial(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect")
}

// isTimeout reports whether the network gave up waiting. The caller has made sure that it was
// not the request's own deadline that passed.
func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func hasText(err error, texts []string) bool {
	s := err.Error()
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) })
}
