package kubetest

import (
	"encoding/base64"
	"encoding/json" // whose errors a real server has
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// list answers with the objects of a kind, in the order of their keys.
func list(w http.ResponseWriter, rq *request) error {
	o, err := rq.listOptions()
	if err != nil {
		return err
	}
	if o.Watch {
		return rq.watch(w, o)
	}
	items, meta, err := rq.list(o)
	if err != nil {
		return err
	}
	return rq.respondList(w, items, meta)
}

// list returns the objects that o selects.
func (rq *request) list(o *internalversion.ListOptions) ([]*object, metav1.ListMeta, error) {
	s := rq.selection(o)
	from, revision, err := rq.listFrom(o, s)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	var keep func(*object) bool
	if !s.everything() {
		keep = s.matches
	}
	snap, ok := rq.kind.table.snapshot(revision, s.namespace, from, o.Limit, keep)
	if !ok {
		return nil, metav1.ListMeta{}, rq.expired(o, s, from)
	}
	meta := metav1.ListMeta{ResourceVersion: formatRevision(snap.revision)}
	if snap.more > 0 {
		last := snap.objects[len(snap.objects)-1].key()
		meta.Continue = encodeContinue(snap.revision, s.namespace, last)
		if s.everything() {
			meta.RemainingItemCount = new(int64(snap.more))
		}
	}
	return snap.objects, meta, nil
}

// listFrom returns after which key to start, and at which revision; zero is the newest.
func (rq *request) listFrom(o *internalversion.ListOptions, s *selection) (key, uint64, error) {
	if o.Continue != "" {
		if o.ResourceVersion != "" && o.ResourceVersion != "0" {
			return key{}, 0, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		return decodeContinue(o.Continue, s.namespace)
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return key{}, 0, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	if o.ResourceVersion == "" {
		return key{}, 0, nil
	}
	exact := o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || o.ResourceVersionMatch == "" && o.Limit > 0 && revision > 0
	if err := rq.waitFor(revision, patience); err != nil {
		return key{}, 0, err
	}
	if exact {
		return key{}, revision, nil
	}
	return key{}, rq.behind(revision), nil
}

// expired says that the revision to list at is forgotten. The Status of a list that was being
// continued has a token to go on with, at the newest revision.
func (rq *request) expired(o *internalversion.ListOptions, s *selection, from key) error {
	if o.Continue == "" {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.ListMeta.Continue = encodeContinue(0, s.namespace, from)
	return err
}

// continueToken is what stands in a token, in the words of a real server.
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"` // negative is the newest
	Start    string `json:"start"`
}

// encodeContinue returns the token of a list that goes on after a key, at a revision; zero is
// the newest one.
func encodeContinue(revision uint64, namespace string, after key) string {
	start := "/" + after.name + "\x00"
	if namespace == "" && after.namespace != "" {
		start = "/" + after.namespace + start
	}
	token := continueToken{Version: "meta.k8s.io/v1", Revision: int64(revision), Start: start}
	if revision == 0 {
		token.Revision = -1
	}
	data, err := json.Marshal(token)
	if err != nil {
		panic("kubetest: " + err.Error()) // names are text
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// decodeContinue is the reverse of encodeContinue.
func decodeContinue(token, namespace string) (after key, revision uint64, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return key{}, 0, badContinue("continue key is not valid: %v", err)
	}
	var t continueToken
	if err := json.Unmarshal(data, &t); err != nil {
		return key{}, 0, badContinue("continue key is not valid: %v", err)
	}
	after, err = t.key(namespace)
	if err != nil {
		return key{}, 0, badContinue("%v", err)
	}
	return after, uint64(max(t.Revision, 0)), nil
}

func (t *continueToken) key(namespace string) (key, error) {
	switch {
	case t.Version != "meta.k8s.io/v1":
		return key{}, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %s", t.Version)
	case t.Revision == 0:
		return key{}, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case t.Start == "":
		return key{}, errors.New("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	if start := "/" + strings.TrimPrefix(t.Start, "/"); path.Clean(start) != start {
		return key{}, fmt.Errorf("continue key is not valid: %s", t.Start)
	}
	start := strings.TrimSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	if ns, name, ok := strings.Cut(start, "/"); ok && namespace == "" {
		return key{ns, name}, nil
	}
	return key{namespace, start}, nil
}

func badContinue(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: "+format, args...))
}
