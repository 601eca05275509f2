package main

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/bench/internal/measure"
)

// firstVersion is the resource version of the first list; that of the second is one more.
const firstVersion = 2_000_000_000

// server serves objects that it makes while it sends them, as the beginning of a watch.
type server struct {
	objects, size int
	json          bool

	mu      sync.Mutex
	version int
	expired chan struct{} // closed to end the watches
}

// serve runs a server, and says on standard output where it is. It ends with its standard input, which is to say with
// the program that started it, however that ends.
func serve(objects, size int, asJSON bool) {
	s := &server{objects: objects, size: size, json: asJSON, version: firstVersion, expired: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/configmaps", s.watch)
	mux.HandleFunc("POST /expire", s.expire)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	measure.Check(err)
	fmt.Fprintln(os.Stdout, listener.Addr())
	go func() { measure.Check(http.Serve(listener, mux)) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	measure.Check(err)
}

// expire ends the watches: the next one is of a list in which one object has changed.
func (s *server) expire(http.ResponseWriter, *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.expired)
	s.expired = make(chan struct{})
	s.version++
}

func (s *server) state() (version int, expired <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.expired
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "only streaming lists are served here", http.StatusBadRequest)
		return
	}
	version, expired := s.state()
	if w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch"); s.json {
		w.Header().Set("Content-Type", "application/json")
	}
	out := bufio.NewWriterSize(w, 256<<10)
	for i := range s.objects {
		o := object(i, s.size)
		if i == s.objects/2 {
			o.ResourceVersion = strconv.Itoa(version)
		}
		s.send(out, "ADDED", "ConfigMap", o)
	}
	s.send(out, "BOOKMARK", "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: strconv.Itoa(version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	if out.Flush() != nil || http.NewResponseController(w).Flush() != nil {
		return // the client has given up, and lists again
	}
	select {
	case <-expired:
		s.send(out, "ERROR", "Status", &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
		out.Flush()
	case <-r.Context().Done():
	}
}

// send writes an event.
func (s *server) send(out *bufio.Writer, typ, kind string, o interface{ Marshal() ([]byte, error) }) {
	if s.json {
		body, err := json.Marshal(o)
		measure.Check(err)
		fmt.Fprintf(out, `{"type":%q,"object":%s}`+"\n", typ, body)
		return
	}
	body, err := o.Marshal()
	measure.Check(err)
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: body}
	envelope, err := unknown.Marshal()
	measure.Check(err)
	event := metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), envelope...)}}
	frame, err := event.Marshal()
	measure.Check(err)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
	out.Write(frame)
}

// object returns config map number i, which has about size bytes. Its data are random: nothing in them is
// as in another object, as in secrets.
func object(i, size int) *corev1.ConfigMap {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	noise := make([]byte, max(0, size-200)*3/4)
	for at := 0; at+8 <= len(noise); at += 8 {
		binary.LittleEndian.PutUint64(noise[at:], random.Uint64())
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace(i), Name: name(i),
			UID: types.UID(fmt.Sprintf("6e5b0bd9-0000-4000-8000-%012d", i)), ResourceVersion: strconv.Itoa(1_000_000_000 + i),
			Labels: map[string]string{"app": fmt.Sprint("app-", i%100)},
		},
		Data: map[string]string{"noise": base64.StdEncoding.EncodeToString(noise)},
	}
}

func namespace(i int) string { return fmt.Sprintf("namespace-%04d", i/1000) }

func name(i int) string { return fmt.Sprintf("settings-%07d", i) }
