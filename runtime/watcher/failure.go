package watcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-kube/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var (
	errSilence   = errors.New("nothing came from the server for too long")
	errNoVersion = errors.New("the server sent no resource version to go on from")
	errEnded     = errors.New("the server ended the watch at once")
	errBroken    = errors.New("the server ended the streaming list before it was complete")
)

// failure gives an error of this package the form of a request's error.
func (e *Engine) failure(verb string, err error) error {
	return &kube.Error{
		Verb: verb, Resource: e.endpoint.Descriptor().GroupResource().String(),
		Namespace: e.endpoint.Namespace(), Err: err,
	}
}

// codeOf returns the HTTP status of a refusal, or 0 when err is something else.
func codeOf(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

func isDenied(err error) bool {
	return errors.Is(err, kube.ErrForbidden) || errors.Is(err, kube.ErrUnauthorized)
}

func isMissingKind(err error) bool { return codeOf(err) == http.StatusNotFound }

// isOverload reports whether the server refused for want of capacity, of its own or of a
// proxy's upstream.
func isOverload(err error) bool {
	switch codeOf(err) {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// speaksAgainstVersion reports whether a refusal to start a watch may be about its resource
// version. Servers say so in more ways than 410: 500 and 504 for a version from the future
// (an etcd that was restored), 400 for one that they cannot read.
func speaksAgainstVersion(err error) bool {
	return codeOf(err) != 0 && !isDenied(err) && !isOverload(err)
}

// isTransient reports whether the same request may work after a while.
func isTransient(err error) bool {
	code := codeOf(err)
	return code == 0 || code == http.StatusTooManyRequests || code >= 500
}

// refusesStreaming reports whether a server without streaming lists answers like this.
func refusesStreaming(err error) bool {
	switch codeOf(err) {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	}
	return false
}

// kindOf names what sort of failure err is, so that repetitions can be told from news.
func kindOf(err error) string {
	verb := ""
	if request, ok := errors.AsType[*kube.Error](err); ok {
		verb = request.Verb
	}
	for _, e := range []error{errSilence, errNoVersion, errEnded, errBroken} {
		if errors.Is(err, e) {
			return verb + e.Error()
		}
	}
	return fmt.Sprintf("%s %d %s", verb, codeOf(err), apierrors.ReasonForError(err))
}

// sleep waits for d, and reports whether ctx lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
