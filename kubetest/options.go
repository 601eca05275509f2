package kubetest

import (
	"io/fs"
	"log/slog"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Options are the settings of a server. The zero value is ready to use.
//
// What exists from the start can be given in four ways, and in any order within each: custom
// resource definitions are created before everything else, namespaces next. Objects are
// created as a client creates them, so they are validated and get their defaults, except that
// what they say about uid, creation time and status is kept. An object that has a deletion
// timestamp and finalizers is deleted at once, and waits for them. What needs a namespace and
// names none goes to "default"; a namespace that is named and does not exist is created.
type Options struct {
	// Objects are Go values: pointers to types of k8s.io/api, or to any other types that
	// have apiVersion and kind set, unstructured.Unstructured among them. They are copied.
	Objects []runtime.Object
	// CRDs are custom resource definitions. Their kinds are served from the start.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// YAML is any number of documents, in YAML or JSON, as kubectl takes them; lists are taken apart.
	YAML string
	// Files has files of such documents: everything in it whose name ends in .yaml, .yml or
	// .json, in its folders too. os.DirFS and embed.FS make one.
	Files fs.FS

	// RuntimeConfig says which versions of built-in API groups are served, as the flag
	// --runtime-config of kube-apiserver does: "resource.k8s.io/v1beta1" and the like, "api/beta",
	// "api/alpha" or "api/all". A version that is named counts more than a level of stability, and that
	// more than all. Without it, the stable versions are served.
	RuntimeConfig map[string]bool

	// Strict reports what is accepted and a real server would have validated: objects of kinds of which
	// only the metadata is validated here, and fields that nobody looks at. Of a server of Start
	// each one is an error of the test, of one of NewServer a warning in the log.
	Strict bool

	// Logger receives a line for each request. Nil is silent.
	Logger *slog.Logger

	// report is where Strict reports; nil is the log.
	report func(text string)
}

// reportingTo returns a copy whose server reports what Strict asks for to a function.
func (o *Options) reportingTo(report func(text string)) *Options {
	c := Options{}
	if o != nil {
		c = *o
	}
	c.report = report
	return &c
}

// complete returns a copy with every default filled in.
func (o *Options) complete() *Options {
	c := Options{}
	if o != nil {
		c = *o
	}
	c.Objects = slices.Clone(c.Objects)
	c.CRDs = slices.Clone(c.CRDs)
	c.RuntimeConfig = maps.Clone(c.RuntimeConfig)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &c
}
