package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxErrorBody bounds what is read of the body of a refused request.
const maxErrorBody = 1 << 20

// setBody gives req a body that can be sent again.
func setBody(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
}

// releasingBody ends the request's context when the body is closed, once.
type releasingBody struct {
	io.ReadCloser
	release context.CancelFunc
}

func (b *releasingBody) Close() error {
	err := b.ReadCloser.Close()
	b.release()
	return err
}

// buffers are reused between the bodies of unary answers: decoding copies what it keeps.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept for the next answer.
const maxPooled = 1 << 20

// readBody hands the whole body of resp to use, and closes it. The bytes are valid during
// the call only.
func readBody(resp *http.Response, use func(body []byte) error) error {
	defer resp.Body.Close()
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer func() {
		if b.Cap() <= maxPooled {
			buffers.Put(b)
		}
	}()
	if resp.ContentLength > 0 && resp.ContentLength < 1<<30 {
		b.Grow(int(resp.ContentLength) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return use(b.Bytes())
}

// payload is what the body of an answer holds: an object of the endpoint's kind, or the body of
// a subresource.
type payload struct {
	*resource.Info
	message interface {
		DecodeProtobuf(data []byte, into any) error
	}
}

// self is the content of answers that are the object itself.
func (e Endpoint) self() payload { return payload{&e.kind.Info, e.kind} }

func bodyOf(s *resource.SubresourceDescriptor) payload { return payload{&s.Body, s} }

// decode reads the body of resp into the object into, and closes it. isStatus reports that
// the server answered with a Status of success in place of an object; into is left alone then.
func decode(resp *http.Response, kind payload, into any) (isStatus bool, err error) {
	format, err := wire.FormatOf(resp.Header.Get("Content-Type"))
	if err != nil {
		resp.Body.Close()
		return false, err
	}
	err = readBody(resp, func(body []byte) error {
		isStatus, err = decodeBody(body, format, kind, into)
		return err
	})
	return isStatus, err
}

func decodeBody(body []byte, format wire.Format, kind payload, into any) (isStatus bool, err error) {
	if format == wire.Protobuf {
		apiVersion, name, raw, err := wire.Envelope(body)
		if err != nil {
			return false, err
		}
		if name == "Status" && apiVersion == "v1" && kind.Kind != "Status" {
			return true, nil
		}
		if err := kind.message.DecodeProtobuf(raw, into); err != nil {
			return false, fmt.Errorf("decoding the answer: %w", err)
		}
		setType(into, kind.Info)
		return false, nil
	}
	if kind.Kind != "Status" && isStatusJSON(body) {
		return true, nil
	}
	if err := codec.DecodeJSON(body, into); err != nil {
		return false, fmt.Errorf("decoding the answer: %w", err)
	}
	setType(into, kind.Info)
	return false, nil
}

// isStatusJSON looks for a Status without decoding objects that plainly are none.
func isStatusJSON(body []byte) bool {
	if !bytes.Contains(body[:min(len(body), 64)], []byte(`"Status"`)) {
		return false
	}
	var typ metav1.TypeMeta
	return codec.DecodeJSON(body, &typ) == nil && typ.Kind == "Status" && typ.APIVersion == "v1"
}

// setType fills in apiVersion and kind, which the protobuf form of an object does not hold
// and the metadata form names wrongly.
func setType(obj any, kind *resource.Info) {
	if o, ok := obj.(interface{ GetObjectKind() schema.ObjectKind }); ok {
		o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	}
}

// refusalOf makes an error of a Status that came where objects were expected.
func refusalOf(err error) error {
	var refused *wire.StatusError
	if !errors.As(err, &refused) {
		return err
	}
	var status metav1.Status
	if refused.Format == wire.Protobuf {
		err = status.Unmarshal(refused.Body)
	} else {
		err = codec.DecodeJSON(refused.Body, &status)
	}
	if err != nil || refused.Kind != "Status" {
		return refused
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// refusal makes an error of a response that is not a success. The status code is looked at
// before the body, which need not be Kubernetes': a proxy answers with what it likes.
func (e Endpoint) refusal(r *request, resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	retryAfter, _ := parseRetryAfter(resp.Header, time.Now())
	if status, ok := statusIn(body, resp.Header); ok {
		if status.Code == 0 {
			status.Code = int32(resp.StatusCode)
		}
		if retryAfter > 0 && (status.Details == nil || status.Details.RetryAfterSeconds == 0) {
			if status.Details == nil {
				status.Details = &metav1.StatusDetails{}
			}
			status.Details.RetryAfterSeconds = int32(retryAfter.Round(time.Second) / time.Second)
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	text := strings.TrimSpace(string(body[:min(len(body), 512)]))
	err := apierrors.NewGenericServerResponse(resp.StatusCode, strings.ToLower(r.method), e.kind.GroupResource(), r.name, text,
		int(retryAfter.Round(time.Second)/time.Second), true)
	if text != "" && !strings.Contains(err.ErrStatus.Message, text) {
		err.ErrStatus.Message += ": " + text
	}
	return err
}

// statusIn finds the Status that the API server sends with a refusal.
func statusIn(body []byte, h http.Header) (status metav1.Status, ok bool) {
	format, err := wire.FormatOf(h.Get("Content-Type"))
	if err != nil {
		return status, false
	}
	if format == wire.Protobuf {
		_, name, raw, err := wire.Envelope(body)
		return status, err == nil && name == "Status" && status.Unmarshal(raw) == nil
	}
	return status, codec.DecodeJSON(body, &status) == nil && status.Kind == "Status" && status.Status == metav1.StatusFailure
}

// errNotOneObject is given for a Status where an object was wanted.
var errNotOneObject = errors.New("the server answered with a Status in place of the object")
