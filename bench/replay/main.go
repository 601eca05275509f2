// Command replay runs the replay server alone, to try a client by hand.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/go-kube/kube/bench/internal/replay"
)

func main() {
	address := flag.String("listen", "127.0.0.1:18080", "address to listen on")
	plural := flag.String("kind", "pods", "pods, secrets or webapps")
	format := flag.String("format", "protobuf", "protobuf or json")
	n := flag.Int("objects", 20000, "number of objects")
	flag.Parse()
	kind, err := replay.KindNamed(*plural)
	if err != nil {
		log.Fatal(err)
	}
	objects, err := replay.Encode(kind, replay.Format(*format), *n)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d %s of %d bytes as %s on http://%s\n", objects.Len(), kind.Plural, objects.Size(), *format, *address)
	log.Fatal(http.ListenAndServe(*address, replay.NewServer(objects)))
}
