package gotypes

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in capitals.
var initialisms = strings.Fields(`acl api arn asn aws bfd bgp ca cel cidr cpu crd csi dn dns ebs ec2 efs eks fqdn gce gcp gcs gid gpu grpc
	hmac html http https iam id ip jmx json jwks jwt kms lb ldap mtls nfs nic numa oci oidc os osd pem pid pvc qos raid ram rbac rgw rpc
	saml sasl sdk sli slo smtp sni sns sql sqs ssd ssh ssl sso sts tcp tls toml ttl udp ui uid uri url utf8 uuid vlan vm vpc xml yaml`)

// words splits a name at capitals, digits' ends and everything that no identifier can have.
func words(name string) (list []string) {
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if end > start {
			list = append(list, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case unicode.IsUpper(r) && i > start && !unicode.IsUpper(runes[i-1]):
			flush(i)
		case unicode.IsLower(r) && i > start+1 && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i-2]) && !isPlural(runes[i:]):
			flush(i - 1) // the last capital of HTTPRoute begins the next word
		}
	}
	flush(len(runes))
	return list
}

// isPlural reports whether the s at the beginning ends a word in capitals, as in clusterIPs.
func isPlural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))
}

// goName makes an exported Go identifier of the name of a field or value.
func goName(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		lower := strings.ToLower(w)
		switch singular := strings.TrimSuffix(lower, "s"); {
		case slices.Contains(initialisms, lower):
			w = strings.ToUpper(w)
		case singular != lower && slices.Contains(initialisms, singular) && len(singular) > 1:
			w = strings.ToUpper(singular) + "s"
		default:
			r := []rune(w)
			r[0] = unicode.ToUpper(r[0])
			w = string(r)
		}
		if last := b.Len(); last > 0 && unicode.IsDigit(rune(b.String()[last-1])) && unicode.IsDigit([]rune(w)[0]) {
			b.WriteByte('_') // 1.2 and 12 are two names
		}
		b.WriteString(w)
	}
	id := b.String()
	if id == "" {
		return "Field"
	}
	if !unicode.IsUpper([]rune(id)[0]) {
		return "X" + id // a digit, or a letter without capitals
	}
	return id
}

// singular is the name of one of many: endpoints become endpoint.
func singular(name string) string {
	lower := strings.ToLower(name)
	has := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(lower, s) })
	}
	switch {
	case len(name) < 4, has("ss", "us", "is", "news", "series"):
		return name
	case has("ies"):
		return name[:len(name)-3] + "y"
	case has("sses", "xes", "ches", "shes"):
		return name[:len(name)-2]
	case has("s"):
		return name[:len(name)-1]
	}
	return name
}

// namespace hands out names, each once.
type namespace map[string]bool

// take returns the first candidate that is free, or the last one with a number behind it.
func (n namespace) take(candidates ...string) string {
	for _, c := range candidates {
		if !n[c] {
			n[c] = true
			return c
		}
	}
	last := candidates[len(candidates)-1]
	for i := 2; ; i++ {
		if name := fmt.Sprintf("%s%d", last, i); !n[name] {
			n[name] = true
			return name
		}
	}
}

// kindsName is the variable of a kind: its plural, in the capitals of the kind where they agree.
func kindsName(kind, plural string) string {
	same := 0
	for same < len(kind) && same < len(plural) && strings.EqualFold(kind[:same+1], plural[:same+1]) {
		same++
	}
	name := kind[:same] + plural[same:]
	if name == kind || same == 0 || !token.IsIdentifier(name) {
		return kind + "Kind"
	}
	return name
}

// isPackageName reports whether Go takes name for a package.
func isPackageName(name string) bool {
	return token.IsIdentifier(name) && name == strings.ToLower(name) && name != "_" && name != "main"
}
