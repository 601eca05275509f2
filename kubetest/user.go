package kubetest

// user is who makes a request.
type user struct {
	name   string
	uid    string
	groups []string
}

var (
	// adminUser is everybody: there is no authentication, and everybody may do everything.
	adminUser = user{name: "kubernetes-admin", groups: []string{"system:masters", "system:authenticated"}}
	// systemUser is the server itself.
	systemUser = user{name: "system:apiserver", groups: []string{"system:masters"}}
)
