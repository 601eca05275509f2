package kubeconfig

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	execGroup   = "client.authentication.k8s.io"
	execV1      = execGroup + "/v1"
	execV1beta1 = execGroup + "/v1beta1"
	// execExtension is the cluster extension that is handed to exec plugins.
	execExtension = execGroup + "/exec"
	execInfo      = "KUBERNETES_EXEC_INFO"

	interactiveNever       = "Never"
	interactiveIfAvailable = "IfAvailable"
	interactiveAlways      = "Always"
)

// plugin runs an exec plugin. See
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
type plugin struct {
	Exec
	options CredentialOptions
	cluster *execCluster // nil unless ProvideClusterInfo
}

func newPlugin(e *Exec, r *Resolved, o CredentialOptions) (CredentialFunc, error) {
	p := &plugin{Exec: *e, options: o}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.ProvideClusterInfo {
		cluster, err := newExecCluster(&r.Cluster)
		if err != nil {
			return nil, fmt.Errorf("exec plugin %q: provideClusterInfo: %w", p.Command, err)
		}
		p.cluster = cluster
	}
	return p.fetch, nil
}

// check follows kubectl: the field interactiveMode came with v1, and is required there.
func (p *plugin) check() error {
	switch {
	case p.Command == "":
		return errors.New("exec plugin: command is empty; name the program")
	case p.APIVersion == "":
		return fmt.Errorf("exec plugin %q: apiVersion is empty; set it to %s", p.Command, execV1)
	case p.APIVersion != execV1 && p.APIVersion != execV1beta1:
		return fmt.Errorf("exec plugin %q: apiVersion %q is not supported; %s and %s are (a newer version of the program knows them)", p.Command, p.APIVersion, execV1, execV1beta1)
	case p.InteractiveMode == "" && p.APIVersion == execV1:
		return fmt.Errorf("exec plugin %q: interactiveMode is empty; with apiVersion %s it has to be Never, IfAvailable or Always", p.Command, execV1)
	}
	p.InteractiveMode = cmp.Or(p.InteractiveMode, interactiveIfAvailable)
	switch p.InteractiveMode {
	case interactiveNever, interactiveIfAvailable, interactiveAlways:
	default:
		return fmt.Errorf("exec plugin %q: interactiveMode %q is none of Never, IfAvailable and Always", p.Command, p.InteractiveMode)
	}
	for _, v := range p.Env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") {
			return fmt.Errorf("exec plugin %q: %q cannot be the name of an environment variable", p.Command, v.Name)
		}
	}
	return nil
}

func (p *plugin) fetch(ctx context.Context, _ *Credential) (*Credential, error) {
	c, err := p.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("exec plugin %q: %w", p.Command, err)
	}
	return c, nil
}

func (p *plugin) run(ctx context.Context) (*Credential, error) {
	interactive, err := p.interactive()
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(&execCredential{
		Kind: "ExecCredential", APIVersion: p.APIVersion,
		Spec: execSpec{Interactive: interactive, Cluster: p.cluster},
	})
	if err != nil {
		return nil, err
	}
	cmd := command{path: p.Command, args: p.Args, hint: p.InstallHint}
	for _, v := range p.Env {
		cmd.env = append(cmd.env, v.Name+"="+string(v.Value))
	}
	cmd.env = append(cmd.env, execInfo+"="+string(info))
	if interactive {
		cmd.stdin = p.options.Stdin
	}
	if p.InteractiveMode != interactiveNever {
		cmd.stderr = p.options.Stderr
	}
	out, err := cmd.output(ctx)
	if err != nil {
		return nil, err
	}
	return p.parse(out)
}

// interactive reports whether the program gets the standard input.
func (p *plugin) interactive() (bool, error) {
	if p.InteractiveMode == interactiveNever {
		return false, nil
	}
	available := !p.options.StdinUnavailable && isTerminal(p.options.Stdin)
	if !available && p.InteractiveMode == interactiveAlways {
		return false, errors.New("interactiveMode is Always, and the standard input is not a terminal that it could have; run it in a terminal, or log in beforehand another way")
	}
	return available, nil
}

// isTerminal takes each character device but the null device for a terminal.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// execCredential is what is said to an exec plugin (spec) and what it answers (status).
type execCredential struct {
	Kind       string      `json:"kind"`
	APIVersion string      `json:"apiVersion"`
	Spec       execSpec    `json:"spec"`
	Status     *execStatus `json:"status,omitempty"`
}

type execSpec struct {
	Interactive bool         `json:"interactive"`
	Cluster     *execCluster `json:"cluster,omitempty"`
}

type execStatus struct {
	Token       string    `json:"token"`
	Certificate string    `json:"clientCertificateData"`
	Key         string    `json:"clientKeyData"`
	Expires     time.Time `json:"expirationTimestamp"`
}

type execCluster struct {
	Server                string         `json:"server"`
	TLSServerName         string         `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify bool           `json:"insecure-skip-tls-verify,omitzero"`
	CAData                []byte         `json:"certificate-authority-data,omitempty"`
	ProxyURL              string         `json:"proxy-url,omitempty"`
	DisableCompression    bool           `json:"disable-compression,omitzero"`
	Config                jsontext.Value `json:"config,omitempty"`
}

func newExecCluster(c *Cluster) (*execCluster, error) {
	e := &execCluster{
		Server:                c.Server,
		TLSServerName:         c.TLSServerName,
		InsecureSkipTLSVerify: c.InsecureSkipTLSVerify,
		CAData:                c.CertificateAuthorityData,
		ProxyURL:              c.ProxyURL,
		DisableCompression:    c.DisableCompression,
	}
	for _, x := range c.Extensions {
		if x.Name == execExtension {
			e.Config = x.Extension
		}
	}
	if len(e.CAData) == 0 && c.CertificateAuthority != "" {
		var err error
		if e.CAData, err = os.ReadFile(c.CertificateAuthority); err != nil {
			return nil, fmt.Errorf("certificate-authority: %w", err)
		}
	}
	return e, nil
}

// parse reads the program's answer, as JSON or YAML. Errors do not show the answer: it holds
// secrets.
func (p *plugin) parse(out []byte) (*Credential, error) {
	var answer execCredential
	if err := unmarshalYAML(out, &answer); err != nil {
		return nil, fmt.Errorf("its output is not an ExecCredential: %w", err)
	}
	switch {
	case answer.Kind != "ExecCredential":
		return nil, fmt.Errorf("its output has the kind %q in place of ExecCredential", answer.Kind)
	case answer.APIVersion != p.APIVersion:
		return nil, fmt.Errorf("it is configured for apiVersion %q and answered with %q; correct the kubeconfig, or update the program", p.APIVersion, answer.APIVersion)
	case answer.Status == nil:
		return nil, errors.New("its output has no status, and with it no credential")
	}
	s := answer.Status
	return checkedCredential(&Credential{Token: Secret(s.Token), Certificate: Data(s.Certificate), Key: Data(s.Key), Expires: s.Expires})
}

// unmarshalYAML reads JSON or YAML into v. Its errors tell where and not what.
func unmarshalYAML(text []byte, v any) error {
	data := bytes.TrimSpace(text)
	if len(data) == 0 {
		return errors.New("it is empty")
	}
	if !jsontext.Value(data).IsValid() {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return errors.New("it is neither JSON nor YAML")
		}
		data = converted
	}
	err := json.Unmarshal(data, v)
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("%s is not as expected", cmp.Or(string(semantic.JSONPointer), "the top level"))
	}
	if err != nil {
		return errors.New("it is not an object as expected")
	}
	return nil
}

// command is a program that prints a credential.
type command struct {
	path   string
	args   []string
	env    []string // besides the environment of this process
	stdin  *os.File
	stderr io.Writer // nil shows nothing
	hint   string
}

// stderrKept is how much of what a program complains about goes into the error.
const stderrKept = 2 << 10

// afterKill is how long the output of a program that was stopped is waited for: a child of it may
// hold it open.
const afterKill = 2 * time.Second

func (c *command) output(ctx context.Context) ([]byte, error) {
	complaint := &tail{}
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.WaitDelay = afterKill
	cmd.Stderr = complaint
	if c.stdin != nil {
		cmd.Stdin = c.stdin
	}
	if c.stderr != nil {
		cmd.Stderr = io.MultiWriter(c.stderr, complaint)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	return nil, c.explain(err, complaint.String())
}

func (c *command) explain(err error, complaint string) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("the program is not installed, or not in PATH: %w", err)
	}
	if complaint != "" {
		err = fmt.Errorf("%w: %s", err, complaint)
	}
	if hint := strings.TrimSpace(c.hint); hint != "" {
		err = fmt.Errorf("%w\n\n%s", err, hint)
	}
	return err
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - stderrKept; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?")) }
