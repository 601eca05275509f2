package kubeconfig_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/kubeconfig"
)

const small = `
apiVersion: v1
kind: Config
clusters:
- name: größe
  cluster: {server: https://a}
users: null
contexts:
- name: größe
  context: {cluster: größe, user: ""}
current-context: größe
`

func parse(t *testing.T, text string) *kubeconfig.Config {
	t.Helper()
	c, err := kubeconfig.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEncodings(t *testing.T) {
	want := parse(t, small)
	for name, text := range map[string][]byte{
		"UTF-8 with a mark":           append([]byte{0xef, 0xbb, 0xbf}, small...),
		"UTF-16 big endian":           inUTF16(small, binary.BigEndian),
		"UTF-16 little endian":        inUTF16(small, binary.LittleEndian),
		"CRLF":                        []byte(strings.ReplaceAll(small, "\n", "\r\n")),
		"no newline at the end":       []byte(strings.TrimRight(small, "\n")),
		"a marker before":             []byte("---" + small),
		"directive, comment, markers": []byte("# comment\n%YAML 1.1\n---" + small + "...\n"),
		"CRLF and markers":            []byte(strings.ReplaceAll("---\n"+small+"---\n", "\n", "\r\n")),
		"JSON": []byte(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"gr\u00f6\u00dfe","cluster":{"server":"https://a"}}],` +
			`"users":null,"contexts":[{"name":"größe","context":{"cluster":"größe","user":""}}],"current-context":"größe"}`),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := kubeconfig.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-UTF-8 +%s):\n%s", name, diff)
			}
		})
	}
}

func inUTF16(s string, order binary.ByteOrder) []byte {
	var b bytes.Buffer
	binary.Write(&b, order, append([]uint16{0xfeff}, utf16.Encode([]rune(s))...))
	return b.Bytes()
}

func TestDocuments(t *testing.T) {
	c := parse(t, small+`
--- # a second document: what the first has stays
clusters:
- {name: größe, cluster: {server: https://other}}
- {name: b, cluster: {server: https://b}}
current-context: b
colour: blue
...
--- {users: [{name: u, user: {password: null, token: secret}}], colour: red}
---
`)
	if got := c.Cluster("größe").Cluster.Server; got != "https://a" {
		t.Errorf("server = %q, want that of the first document", got)
	}
	if c.Cluster("b") == nil || c.CurrentContext != "größe" || string(c.Other["colour"]) != `"blue"` {
		t.Errorf("merged: %v", c)
	}
	if u := c.User("u"); u == nil || u.User.Token != "secret" || u.User.Password != "" {
		t.Errorf("user = %v", u)
	}
}

func TestMerge(t *testing.T) {
	c := parse(t, "extensions: [{name: a, extension: 1}]\nred: 1\n")
	c.Merge(parse(t, "apiVersion: v1\nkind: Config\nextensions: [{name: a, extension: 2}, {name: b, extension: 3}]\nred: 2\nblue: 2\n"))
	got := fmt.Sprint(c.APIVersion, c.Kind, c.Extensions[0].Extension, c.Extensions[1].Extension, c.Other["red"], c.Other["blue"], len(c.Extensions))
	if want := "v1Config1 3 1 2 2"; got != want {
		t.Errorf("merged: %s, want %s", got, want)
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", "---\n", "# only a comment\n", "null", "{}", "\ufeff"} {
		c, err := kubeconfig.Parse([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if len(c.Clusters)+len(c.Users)+len(c.Contexts) > 0 {
			t.Errorf("%q: %v", text, c)
		}
	}
}

func TestWrappedBase64(t *testing.T) {
	c := parse(t, `
clusters:
- name: folded
  cluster:
    server: https://a
    certificate-authority-data: >-
      c29tZSB0
      ZXh0
- name: lines
  cluster:
    server: https://a
    certificate-authority-data: |
      c29tZSB0
      ZXh0
`)
	for _, name := range []string{"folded", "lines"} {
		if got := c.Cluster(name).Cluster.CertificateAuthorityData; string(got) != "some text" {
			t.Errorf("%s: data = %q", name, string(got))
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"not a mapping", "hello", "kubeconfig: the document is text where a mapping is expected"},
		{"another kind", "kind: Pod\napiVersion: v1", `kubeconfig: this is a "Pod", not a kubeconfig, whose kind is Config`},
		{"another version", "apiVersion: v2", `kubeconfig: apiVersion is "v2"; only v1 is known`},
		{"bad base64", "users:\n- name: a\n  user: {}\n- name: admin\n  user: {client-key-data: c2VjcmV0%}",
			"kubeconfig: users[1] (admin): user.client-key-data: not base64: illegal base64 data at input byte 8"},
		{"data that is a number", "clusters:\n- name: a\n  cluster: {certificate-authority-data: 12}",
			"kubeconfig: clusters[0] (a): cluster.certificate-authority-data: has to be text"},
		{"token that is a number", "users:\n- name: a\n  user: {token: 123456}",
			"kubeconfig: users[0] (a): user.token is a number where text is expected; put it in quotes"},
		{"name that is a number", "users:\n- name: 7\n  user: {}",
			"kubeconfig: users[0]: name is a number where text is expected; put it in quotes"},
		{"current-context that is true", "current-context: yes",
			"kubeconfig: current-context is true where text is expected; put it in quotes"},
		{"list that is a mapping", "users: {a: b}", "kubeconfig: users is a mapping where a list is expected"},
		{"bool that is text", `clusters: [{name: a, cluster: {insecure-skip-tls-verify: "true"}}]`,
			"kubeconfig: clusters[0] (a): cluster.insecure-skip-tls-verify is text where true or false is expected"},
		{"duplicate user", "users: [{name: a, user: {}}, {name: a, user: {}}]",
			`kubeconfig: users has two entries named "a"; rename or remove one`},
		{"second document", "kind: Config\n---\nkind: Pod", `kubeconfig: document 2: this is a "Pod", not a kubeconfig, whose kind is Config`},
		{"half a character", "\xff\xfea", "kubeconfig: the text starts as UTF-16 and has half a character at its end"},
		{"Latin-1", "current-context: gr\xf6\xdfe", "kubeconfig: the text is neither UTF-8 nor UTF-16 with a byte order mark"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := kubeconfig.Parse([]byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
		})
	}
}

// No error of the parser shows what stands in a secret field.
func TestErrorsHideSecrets(t *testing.T) {
	for _, user := range []string{
		"{token: [hunter2]}", "{token: {hunter2: a}}", "{password: [hunter2]}", "{client-key-data: hunter2!}",
		"{exec: {args: hunter2}}", "{exec: {env: hunter2}}", "{auth-provider: {config: hunter2}}", "{as-groups: hunter2}",
		"{token: *hunter2}", "{token: &hunter2 [*hunter2]}", "{token: !!float hunter2}", "{token: !!int hunter2}", "{[hunter2]: a}", "{{hunter2: a}: b}",
		"{~: hunter2}", "{token: !!binary hunter2!}", "{token: %hunter2}", "{token: @hunter2}", "{token: `hunter2}", "{token: !hunter2! a}",
		"{token: !<hunter2}", "{token: hunter2: a}", "{token: 'hunter2}", "{token: \"\\hunter2\"}", "{token: [hunter2}", "{<<: hunter2}", "{token: hunter2\x01}", "{token: |hunter2}",
	} {
		_, err := kubeconfig.Parse([]byte("users: [{name: a, user: " + user + "}]"))
		if err == nil {
			t.Errorf("%s was read", user)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the value: %v", user, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for name := range map[string]bool{"crlf.yaml": true, "doctl.yaml": true, "exec-cluster-info.yaml": true, "impersonation.yaml": true,
		"minified.json": true, "openshift.yaml": true, "oidc-auth-provider.yaml": true, "utf16-be.yaml": true} {
		f.Add(shape(f, name))
	}
	f.Add([]byte(small))
	f.Add([]byte("--- {a: &x [1], b: *x}\n...\n%YAML 1.1\n---\nusers: [null]\n"))
	f.Add([]byte("a: [-0.0, -0, 1e400, 0x1F]\n" + longKey))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := kubeconfig.Parse(text); err == nil {
			c.Resolve(nil)
			checkRoundTrip(t, c)
		}
	})
}

// longKey needs more characters when it is written than a key may have that stands on one line.
var longKey = `"` + strings.Repeat(`\x01`, 250) + `": {b: [1]}`

func checkRoundTrip(t *testing.T, c *kubeconfig.Config) {
	t.Helper()
	written, err := c.Encode()
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again, err := kubeconfig.Parse(written)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, written)
	}
	second, err := again.Encode()
	if err != nil || !bytes.Equal(written, second) {
		t.Fatalf("written twice, it differs: %v\n%s\n%s", err, written, second)
	}
}

// Whatever YAML can say in a field that nobody knows stays what it is.
func TestUnknownFieldsOfAnyForm(t *testing.T) {
	deep := strings.Repeat("{a: [", 300) + strings.Repeat("]}", 300)
	for _, value := range []string{
		"-0.0", "-0", "1e20", "1e21", "1e-7", "0x1F", "017", "1_000", "190:20:30", "+.5", "5.", "123456789012345678901234567890", "18446744073709551615",
		"2001-12-14", "!!binary aGVsbG8=", "!!set {a, b}", "!!float 1", "!!str 1", "{<<: {a: 1}, b: 2}", "{1: 2, 1.5: 2, true: 1}", "{'<<': 1, '=': '='}",
		"{y: n, Y: N, YES: NO}", `"\0\e\a\L\P\N\_\U0001F600\uFFFE\uFFFF"`, "|\n      a\n\n      b\n", "[&a [1], *a, *a]", "{'- a': '# x', \"a\\n\\nb\": 'c '}", "[[], {}, [{}], [[[1]], [{b: [[]]}]]]",
		"{" + longKey + "}", "[[{" + longKey + ", c: 1}]]", "{? " + strings.Repeat("a", 1200) + " : {b: [1]}, c: 1}", "{? " + strings.Repeat("é", 1000) + " : x}", deep,
	} {
		for _, where := range []string{"x: ", "extensions:\n- name: a\n  extension: ", "users:\n- name: a\n  user:\n    x: "} {
			c, err := kubeconfig.Parse([]byte(where + value))
			if err != nil {
				t.Errorf("%s%s: %v", where, value, err)
				continue
			}
			checkRoundTrip(t, c)
		}
	}
}
