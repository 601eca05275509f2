package kubetest

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// definitions does what the controllers of the API server do for custom resource definitions
// (k8s.io/apiextensions-apiserver/pkg/controller): it accepts names, serves what is defined, and
// deletes what is not any more. Its methods are tasks of the lifecycle, of which one runs at a time.
type definitions struct {
	server *Server
	served map[string]*definition // by the name of the custom resource definition
}

// definitionResource is the resource of custom resource definitions.
var definitionResource = schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}

// look brings what follows from a custom resource definition up to date.
func (d *definitions) look(p place) {
	o := p.table.get(p.key)
	if o == nil {
		d.withdraw(p)
		return
	}
	for _, step := range []func(*apiextensionsv1.CustomResourceDefinition) bool{setApproval, d.setNames(p), establish} {
		if o = d.update(p, o, step); o == nil {
			return // it is gone, which is another task
		}
	}
	d.serve(p, o.content.(*apiextensionsv1.CustomResourceDefinition))
	d.finalize(p, o)
}

// lookAtOthers has the other definitions of a group looked at, which may get names now.
func (d *definitions) lookAtOthers(p place, group string) {
	st := d.server.store
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range p.table.sorted {
		if o := s.now(); o != nil && s.key != p.key && o.content.(*apiextensionsv1.CustomResourceDefinition).Spec.Group == group {
			d.server.life.add(definitionTask, place{p.table, s.key})
		}
	}
}

// update changes the status of a definition, and returns what is stored then: nil if it is
// gone, o if change reports that there is nothing to change.
func (d *definitions) update(p place, o *object, change func(*apiextensionsv1.CustomResourceDefinition) bool) *object {
	rq := d.server.life.request(verbUpdate, p)
	rq.subresource, rq.fieldManager = "status", "kube-apiserver"
	for o != nil {
		obj := o.copy().(*apiextensionsv1.CustomResourceDefinition)
		if !change(obj) {
			return o
		}
		d.track(rq, obj, o.content.(*apiextensionsv1.CustomResourceDefinition))
		changed, err := rq.replace(obj, o)
		if err == nil {
			if obj.DeletionTimestamp != nil && len(obj.Finalizers) == 0 {
				return nil
			}
			return changed
		}
		if !errors.Is(err, errChanged) {
			panic(fmt.Sprintf("kubetest: update the status of %s: %v", p.key.name, err)) // it is a copy of what is stored
		}
		o = p.table.get(p.key)
	}
	return nil
}

// track notes who has changed the status. It looks at nothing else, as definitions can be large.
func (d *definitions) track(rq *request, obj, old *apiextensionsv1.CustomResourceDefinition) {
	small := func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: crd.ObjectMeta, Status: crd.Status}
	}
	if tracked, err := rq.trackFields(small(obj), small(old)); err == nil {
		obj.SetManagedFields(accessor(tracked).GetManagedFields())
	}
}

// serve has the kinds of a definition served as it says now.
func (d *definitions) serve(p place, crd *apiextensionsv1.CustomResourceDefinition) {
	old := d.served[p.key.name]
	switch {
	case !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established):
		return
	case old.serves(crd):
		old.terminating.Store(isTerminating(crd))
		return
	}
	t := d.server.store.newTable(schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Status.AcceptedNames.Plural})
	if old != nil {
		t = old.table
	}
	t.definitions, t.definedBy = p.table, p.key.name
	now := newDefinition(crd, t)
	d.served[p.key.name] = now
	d.server.kinds.change(func(kinds []*kind) []*kind { return now.in(old.outOf(kinds)) })
	if old != nil {
		t.reload(now.reread)
	}
}

// outOf returns kinds without those of d.
func (d *definition) outOf(kinds []*kind) []*kind {
	if d == nil {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.custom && k.definition.definition == d })
}

// in returns kinds with those of d. Custom resources come after all others.
func (d *definition) in(kinds []*kind) []*kind {
	kinds = slices.Clone(kinds)
	for _, k := range d.kinds {
		i := len(kinds)
		for i > 0 && kinds[i-1].custom && compareKinds(kinds[i-1], k) > 0 {
			i--
		}
		kinds = slices.Insert(kinds, i, k)
	}
	return kinds
}

// reread returns an object that was stored under another definition as it is read under this one.
func (d *definition) reread(obj runtime.Object) runtime.Object {
	obj = convertCustom(obj, d.storage)
	d.storage.strategy.setDefaults(obj)
	return obj
}

// observeDefinition follows the changes that concern definitions: their own, and deletions of
// what they define.
func (l *lifecycle) observeDefinition(p place, ev event) {
	if p.table.resource == definitionResource {
		l.add(definitionTask, p)
		return
	}
	if ev.deleted && p.table.definedBy != "" {
		l.add(definitionTask, place{p.table.definitions, key{name: p.table.definedBy}})
	}
}
