package pods_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// frame is a whole message of a server's, as RFC 6455 puts it on the wire.
func frame(opcode byte, content string) []byte {
	head := []byte{0x80 | opcode}
	switch n := len(content); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	return append(head, content...)
}

// scripted returns the pods of a server that switches to a protocol, sends bytes, and hangs up.
func scripted(t *testing.T, protocol string, script []byte) kube.API[corev1.Pod] {
	t.Helper()
	client, err := kube.NewClient(&kube.Config{Server: "http://host", DisableRetry: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			r := bufio.NewReader(far)
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			go io.Copy(io.Discard, r) // what the client sends
			key := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
			fmt.Fprintf(far, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
				"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n", base64.StdEncoding.EncodeToString(key[:]), protocol)
			far.Write(script)
		}()
		return near, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client.Namespaced(core.Pods, "ns")
}

// FuzzExec feeds the client what a server may send by a websocket: as raw frames, or as the
// contents of good ones, a length before each.
func FuzzExec(f *testing.F) {
	message := func(text string) string { return string([]byte{byte(len(text))}) + text }
	f.Add(true, bytes.Join([][]byte{frame(2, "\x01out"), frame(2, "\x02err"), frame(2, "\x03"+success)}, nil))
	f.Add(true, frame(2, "\x03"+failure("3")))
	f.Add(true, append(frame(9, "ping"), frame(8, "\x03\xe8bye")...))
	f.Add(true, []byte{0x02, 0x02, 1, 'o', 0x80, 0x01, 'k'})                                                            // a message in two frames
	f.Add(true, append(append([]byte{0x02, 14}, "\x03{\"status\":\"Su"...), append([]byte{0x80, 7}, "ccess\"}"...)...)) // and its word too
	f.Add(true, frame(2, "\x03{\"status\":\"\\u0053uccess\"}"))
	f.Add(true, []byte{0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(true, []byte{0x82, 0xfe, 0x00})
	f.Add(true, []byte{0xf2, 0x00})
	f.Add(false, []byte(message("\x01out")+message("")+message("\x01")+message("\x03{}")))
	f.Add(false, []byte(message(`{"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"-9"}]}}`)))
	f.Fuzz(func(t *testing.T, raw bool, data []byte) {
		script := data
		if !raw {
			script = nil
			for len(data) > 0 {
				n := min(int(data[0]), len(data)-1)
				script = append(script, frame(2, string(data[1:1+n]))...)
				data = data[1+n:]
			}
		}
		for _, protocol := range []string{v4, v5} {
			var out, errs bytes.Buffer
			err := pods.Exec(t.Context(), scripted(t, protocol, script), "web", []string{"true"},
				&pods.ExecOptions{Streams: pods.Streams{Stdout: &out, Stderr: &errs}})
			if n := out.Len() + errs.Len(); n > len(script) {
				t.Errorf("%d bytes came out of %d", n, len(script))
			}
			// Only a Status on its channel says how a command ended.
			ends := statuses(script)
			if err == nil && !slices.ContainsFunc(ends, func(s metav1.Status) bool { return s.Status == metav1.StatusSuccess }) {
				t.Error("success that nobody told")
			}
			if exit, ok := errors.AsType[*pods.ExitError](err); ok && !slices.ContainsFunc(ends, func(s metav1.Status) bool { return s.Reason == "NonZeroExitCode" }) {
				t.Errorf("%v, which nobody told", exit)
			}
		}
	})
}

// statuses are those in the messages of script, in frames of any form; what is no Status is left out.
func statuses(script []byte) (found []metav1.Status) {
	var messages [][]byte
	for len(script) >= 2 {
		opcode, n, head := script[0]&15, uint64(script[1]&127), 2
		switch {
		case n == 126 && len(script) >= 4:
			n, head = uint64(binary.BigEndian.Uint16(script[2:])), 4
		case n == 127 && len(script) >= 10:
			n, head = binary.BigEndian.Uint64(script[2:]), 10
		}
		script = script[head:]
		n = min(n, uint64(len(script)))
		switch {
		case opcode == 0 && len(messages) > 0: // more of a message
			last := &messages[len(messages)-1]
			*last = append(*last, script[:n]...)
		case opcode < 8:
			messages = append(messages, slices.Clone(script[:n]))
		}
		script = script[n:]
	}
	for _, m := range messages {
		var status metav1.Status
		if len(m) > 0 && m[0] == 3 && json.Unmarshal(m[1:], &status) == nil {
			found = append(found, status)
		}
	}
	return found
}

// FuzzDial does the same for a forwarded port, whose content has to come through unchanged.
func FuzzDial(f *testing.F) {
	f.Add([]byte("\x00\x50\x00"), []byte("\x01\x50\x00"), []byte("\x00hello"))
	f.Add([]byte("\x00\x50"), []byte("\x01\x51\x00"), []byte("\x01refused"))
	f.Add([]byte("\x05x"), []byte("\x00"), []byte(""))
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		messages := [][]byte{first, second, third}
		var script []byte
		for _, m := range messages {
			script = append(script, frame(2, string(m))...)
		}
		conn, err := pods.Dial(t.Context(), scripted(t, v5, script), "web", 80)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(conn)
		conn.Close()
		if want := forwarded(messages); !bytes.HasPrefix(want, got) {
			t.Errorf("got %q, of which only %q was sent", got, want)
		}
	})
}

// forwarded is what a client may get of messages: those of channel 0 after the one with the port,
// until something is wrong.
func forwarded(messages [][]byte) []byte {
	var content []byte
	begun := [2]bool{}
	for _, m := range messages {
		switch {
		case len(m) < 2:
		case m[0] > 1:
		case !begun[m[0]]:
			begun[m[0]] = true
			if len(m) < 3 || m[1] != 80 || m[2] != 0 {
				return content
			}
		case m[0] == 1:
			return content
		default:
			content = append(content, m[1:]...)
		}
	}
	return content
}
