package kubetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/k8s/all"
)

// builtins returns the kinds that Kubernetes serves by itself, with empty tables.
func (s *Server) builtins() []*kind {
	var kinds []*kind
	stored := map[schema.GroupResource]*kind{} // the first kind of each resource, which is the preferred version
	traits, hooks, rules := builtinTraits(), builtinHooks(), builtinRules()
	for _, b := range all.Kinds() {
		if !s.options.served(b.Descriptor.GroupVersionKind().GroupVersion()) {
			continue
		}
		gvk := b.Descriptor.GroupVersionKind()
		strategy := &strategy{selectable: builtinFields(gvk.GroupKind())}
		traits[gvk.GroupKind()].apply(strategy)
		if hook := hooks[gvk]; hook != nil {
			hook(strategy)
		}
		strategy.addDefaults(gvk.GroupKind())
		strategy.unvalidated = metadataOnly(rules, strategy, gvk.GroupKind())
		strategy.addRules(gvk.GroupKind(), rules[gvk.GroupKind()])
		k := s.builtin(b, strategy)
		place := storagePlace(b.Descriptor.GroupResource())
		if storage := stored[place]; storage != nil {
			c := builtinConversion(k, storage)
			k.table, k.storage, k.load, k.store = storage.table, storage, c.load, c.store
		} else {
			k.table, stored[place] = s.store.newTable(place), k
			k.table.uncollected = strategy.noGarbage
		}
		kinds = append(kinds, k)
	}
	s.store.namespaces = stored[namespaces].table
	return kinds
}

// served reports whether a version of a group is served.
func (o *Options) served(gv schema.GroupVersion) bool {
	name := gv.Group + "/" + gv.Version
	if gv.Group == "" {
		name = gv.Version
	}
	level := "api/ga"
	for _, l := range []string{"alpha", "beta"} {
		if strings.Contains(gv.Version, l) {
			level = "api/" + l
		}
	}
	for _, key := range []string{name, level, "api/all"} {
		if served, ok := o.RuntimeConfig[key]; ok {
			return served
		}
	}
	return level == "api/ga"
}

// checkRuntimeConfig refuses what stands for no version.
func (o *Options) checkRuntimeConfig() error {
	known := map[string]bool{"api/all": true, "api/ga": true, "api/beta": true, "api/alpha": true}
	for _, b := range all.Kinds() {
		known[b.Descriptor.APIVersion()] = true
	}
	for _, name := range sortedKeys(o.RuntimeConfig) {
		if !known[name] {
			return fmt.Errorf("Options.RuntimeConfig names %q, which is no version of a built-in API group; want group/version, api/all, api/ga, api/beta or api/alpha", name)
		}
	}
	if !o.served(schema.GroupVersion{Version: "v1"}) {
		return errors.New("Options.RuntimeConfig turns v1 off, without which there are no namespaces")
	}
	return nil
}

// storagePlace returns where objects of a resource are kept: two groups have the same events.
func storagePlace(r schema.GroupResource) schema.GroupResource {
	if r.Group == "events.k8s.io" && r.Resource == "events" {
		return schema.GroupResource{Resource: "events"}
	}
	return r
}

func (s *Server) builtin(b all.Kind, strategy *strategy) *kind {
	k := &kind{
		Descriptor:   b.Descriptor,
		list:         b.Descriptor.Kind + "List",
		new:          func() runtime.Object { return b.New() },
		strategy:     strategy,
		subresources: map[string]*subresource{},
	}
	if slices.Contains(b.Descriptor.Subresources, "status") {
		k.subresources["status"] = statusOfKind(k)
	}
	for _, sub := range b.Subresources {
		k.subresources[sub.Descriptor.Name] = builtinSubresource(k, sub)
	}
	return k
}

// statusOfKind is the status subresource that most kinds have: an update of it changes the
// status, and of the metadata what may be changed there.
func statusOfKind(k *kind) *subresource {
	return &subresource{
		name:     "status",
		handlers: map[string]handler{verbGet: get, verbUpdate: update, verbPatch: patch},
		prepare: func(rq *request, obj, old runtime.Object) {
			copyAllButStatus(old, obj)
			if k.strategy.prepareStatus != nil {
				k.strategy.prepareStatus(rq, obj, old)
			}
		},
		validate: k.strategy.validateStatus,
	}
}

// builtinSubresource returns a subresource with what is known of it; the file of each one
// says what it does.
func builtinSubresource(k *kind, sub all.Subresource) *subresource {
	s := &subresource{name: sub.Descriptor.Name, body: &sub.Descriptor.Body, newBody: sub.New}
	completeSubresource(k, s)
	return s
}

// hooks complete the strategy of a built-in kind; they are in a file per API group.
type hooks map[schema.GroupVersionKind]func(*strategy)

// builtinHooks are the hooks of all groups.
func builtinHooks() hooks {
	all := hooks{}
	for _, group := range []hooks{coreHooks(), definitionHooks()} {
		maps.Copy(all, group)
	}
	return all
}
