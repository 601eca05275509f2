package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
)

// peer is the API machinery's way to read, put together as client-go does it.
type peer struct {
	info    runtime.SerializerInfo
	decoder runtime.Decoder
}

func newPeer(format Format) peer {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), format.MediaType())
	if !ok {
		panic("no serializer for " + format.String())
	}
	return peer{info, codecs.DecoderToVersion(info.Serializer, corev1.SchemeGroupVersion)}
}

// list reads the whole body, then decodes it.
func (p peer) list(b *testing.B, body []byte) {
	data, err := io.ReadAll(bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	var list corev1.PodList
	if _, _, err := p.decoder.Decode(data, nil, &list); err != nil {
		b.Fatal(err)
	}
	if len(list.Items) != pageSize {
		b.Fatalf("%d items", len(list.Items))
	}
}

func (p peer) watch(b *testing.B, body []byte) {
	frames := p.info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(bytes.NewReader(body)))
	events := streaming.NewDecoder(frames, p.info.StreamSerializer.Serializer)
	for n := 0; ; n++ {
		var event metav1.WatchEvent
		_, _, err := events.Decode(nil, &event)
		if errors.Is(err, io.EOF) && n == pageSize {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		if _, err := runtime.Decode(p.decoder, event.Object.Raw); err != nil {
			b.Fatal(err)
		}
	}
}
