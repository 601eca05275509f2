package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/bench/internal/webapp"
)

// Kind is a kind of objects that can be served.
type Kind struct {
	// Group, Version, Kind and Plural are its identity.
	Group, Version, Kind, Plural string
	// make returns object number i. Objects are valid, and differ from one another where those
	// of a cluster do.
	make func(i int) object
}

// object is what all kinds have; those with Marshal have protobuf too.
type object interface{ metav1.Object }

// protobuf is an object that has a protobuf form.
type protobuf interface{ Marshal() ([]byte, error) }

var (
	// Pods are 3.5 KB as protobuf and 5.3 KB as JSON, half of that managedFields.
	Pods = Kind{Version: "v1", Kind: "Pod", Plural: "pods", make: func(i int) object { return makePod(i) }}
	// Secrets have 2 KB of data.
	Secrets = Kind{Version: "v1", Kind: "Secret", Plural: "secrets", make: func(i int) object { return makeSecret(i) }}
	// WebApps are custom resources, which have no protobuf.
	WebApps = Kind{Group: "example.com", Version: "v1", Kind: "WebApp", Plural: "webapps", make: func(i int) object { return makeWebApp(i) }}
)

// Kinds are all kinds.
var Kinds = []Kind{Pods, Secrets, WebApps}

// KindNamed returns the kind whose plural is name.
func KindNamed(name string) (Kind, error) {
	for _, k := range Kinds {
		if k.Plural == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("no kind %q: there are pods, secrets and webapps", name)
}

// APIVersion is what stands in the apiVersion field.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// root is the path that everything of the group and version is under.
func (k Kind) root() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.Group + "/" + k.Version
}

func makeSecret(i int) *corev1.Secret {
	at := createdAt(i)
	const fields = `{"f:data":{".":{},"f:tls.crt":{},"f:tls.key":{}},"f:type":{}}`
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("certificate-%06d", i), Namespace: namespace(i), UID: uid(i), CreationTimestamp: at,
			Labels:        map[string]string{"app": "web", "shard": fmt.Sprint(i % 16)},
			Annotations:   map[string]string{"cert-manager.io/issuer-kind": "ClusterIssuer"},
			ManagedFields: managedFields(at, fields, fields)[:1],
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{"tls.crt": []byte(strings.Repeat("c", 1200)), "tls.key": []byte(strings.Repeat("k", 800))},
	}
}

func makeWebApp(i int) *webapp.WebApp {
	at := createdAt(i)
	const fields = `{"f:spec":{".":{},"f:env":{".":{},"f:DB":{},"f:LOG_LEVEL":{}},"f:hosts":{},"f:image":{},"f:replicas":{}}}`
	const status = `{"f:status":{".":{},"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:ready":{}}}`
	return &webapp.WebApp{
		TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "WebApp"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("app-%06d", i), Namespace: namespace(i), UID: uid(i), CreationTimestamp: at, Generation: 2,
			Labels:        map[string]string{"app": "web", "shard": fmt.Sprint(i % 16)},
			Finalizers:    []string{"webapp.example.com/cleanup"},
			ManagedFields: managedFields(at, fields, status),
		},
		Spec: webapp.Spec{
			Image: "registry.example.com/team/web:v1.2.3", Replicas: int32(i % 9),
			Env:   map[string]string{"LOG_LEVEL": "info", "DB": "postgres://db.internal:5432/web"},
			Hosts: []string{fmt.Sprintf("app-%d.example.com", i)},
		},
		Status: webapp.Status{
			AvailableReplicas: int32(i % 9), Ready: true,
			Conditions: []metav1.Condition{{Type: "Ready", Status: "True", ObservedGeneration: 2, LastTransitionTime: at, Reason: "Available", Message: "all replicas are available"}},
		},
	}
}

// Format is how objects are encoded.
type Format string

// The formats.
const (
	JSON     Format = "json"
	Protobuf Format = "protobuf"
)

// encode returns o alone: without the envelope that protobuf has around it.
func encode(o object, format Format) ([]byte, error) {
	if format == JSON {
		return json.Marshal(o)
	}
	p, ok := o.(protobuf)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf form", o)
	}
	return p.Marshal()
}
