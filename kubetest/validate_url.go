package kubetest

import (
	"fmt"
	"net/url"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// webhookURL validates where a webhook is.
func (p *problems) webhookURL(at *field.Path, text string) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		p.required(at, "url must be a valid URL: "+err.Error()+form)
		return
	}
	if u.Scheme != "https" {
		p.invalid(at, u.Scheme, "'https' is the only allowed URL scheme"+form)
	}
	if u.Host == "" {
		p.invalid(at, u.Host, "host must be specified"+form)
	}
	if u.User != nil {
		p.invalid(at, u.User.String(), "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		p.invalid(at, u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		p.invalid(at, u.RawQuery, "query parameters are not permitted in the URL")
	}
}

// webhookService validates the service of a webhook. A real server takes the name for the namespace,
// and the namespace for the name, in what it says.
func (p *problems) webhookService(at *field.Path, name, namespace string, path *string, port int32) {
	if namespace == "" {
		p.required(at.Child("name"), "")
	}
	if name == "" {
		p.required(at.Child("namespace"), "")
	}
	if errs := utilvalidation.IsValidPortNum(int(port)); errs != nil {
		p.invalid(at.Child("port"), port, "port is not valid: "+strings.Join(errs, ", "))
	}
	if path != nil {
		p.webhookPath(at.Child("path"), *path)
	}
}

func (p *problems) webhookPath(at *field.Path, path string) {
	switch path {
	case "", "/":
		return
	case "//":
		p.invalid(at, path, "segment[0] may not be empty")
		return
	}
	if !strings.HasPrefix(path, "/") {
		p.invalid(at, path, "must start with a '/'")
	}
	for i, step := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if step == "" {
			p.invalid(at, path, fmt.Sprintf("segment[%d] may not be empty", i))
			continue
		}
		for _, msg := range subdomain(step) {
			p.invalid(at, path, fmt.Sprintf("segment[%d]: %v", i, msg))
		}
	}
}
