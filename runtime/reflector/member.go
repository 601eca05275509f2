package reflector

import "context"

// member is a feed that runs. Its fields but the first are guarded by mu of joints.
type member struct {
	feed  *Feed
	key   jointKey           // with no limit of size
	joint *joint             // that it follows, or nil
	move  context.CancelFunc // has it look for a better one
}

func (all *joints) enter(m *member) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.members == nil {
		all.members = map[jointKey]map[*member]struct{}{}
	}
	if all.members[m.key] == nil {
		all.members[m.key] = map[*member]struct{}{}
	}
	all.members[m.key][m] = struct{}{}
}

func (all *joints) exit(m *member) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.members[m.key], m)
	if len(all.members[m.key]) == 0 {
		delete(all.members, m.key)
	}
}

// place makes user, who stands for m, one of those who run the joint that serves m best. It is nil
// when m is alone, and needs no store.
func (all *joints) place(ctx context.Context, m *member, user *source, move context.CancelFunc) *joint {
	all.mu.Lock()
	defer all.mu.Unlock()
	m.move = nil // not to be moved to what is begun here
	m.joint = all.best(m.key)
	if m.joint == nil && (len(all.members[m.key]) > 1 || m.key.namespaces != nil) {
		m.joint = all.begin(ctx, m.key, m.feed.newStore())
	}
	if m.joint != nil {
		for other := range all.members[m.key] {
			m.joint.cache.read(other.feed.engine.Endpoint())
		}
		m.joint.users[user] = struct{}{}
	}
	m.move = move
	return m.joint
}

// best returns the joint of whole objects that serves key, else any that does.
func (all *joints) best(key jointKey) (best *joint) {
	for k, j := range all.byKey {
		if !k.serves(key) {
			continue
		}
		if best == nil || k.watch.Whole(best.key.watch) {
			best = j
		}
	}
	return best
}

// moveTo has the feeds follow j, which is ready, that have a watch of their own.
func (all *joints) moveTo(j *joint) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.move(j, func(*member) bool { return true })
}

// moveEarly has those of them follow j at once that know nothing yet. The caller holds mu.
func (all *joints) moveEarly(j *joint) {
	all.move(j, func(m *member) bool { return !m.feed.State().Synced })
}

func (all *joints) move(j *joint, which func(*member) bool) {
	for key, members := range all.members {
		if !j.key.serves(key) {
			continue
		}
		for m := range members {
			if m.move != nil && m.joint == nil && which(m) {
				m.move()
			}
		}
	}
}
