package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files below the folder of a server, which the server program reads under these names.
const (
	caCertFile     = "pki/ca.crt"
	caKeyFile      = "pki/ca.key"
	serverCertFile = "pki/server.crt"
	serverKeyFile  = "pki/server.key"
	saKeyFile      = "pki/sa.key"
	tokensFile     = "pki/tokens.csv"
)

// certLifetime is that of the certificates of a server.
const certLifetime = 365 * 24 * time.Hour

// mastersGroup has every right, by a binding that kube-apiserver itself makes.
const mastersGroup = "system:masters"

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template, err := newTemplate("kube-test-ca", nil, certLifetime)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, nil
}

// readAuthority reads the authority of the server in dir.
func readAuthority(dir string) (*authority, error) {
	certPEM, err := os.ReadFile(filepath.Join(dir, caCertFile))
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, err
	}
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, fmt.Errorf("%s and %s in %s are not PEM; remove the folder to start afresh", caCertFile, caKeyFile, dir)
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", caCertFile, err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", caKeyFile, err)
	}
	return &authority{cert, key}, nil
}

func (a *authority) certPEM() []byte { return encodePEM("CERTIFICATE", a.cert.Raw) }

// issueServer returns a serving certificate for every name of the loopback interface and for
// those of the kubernetes Service.
func (a *authority) issueServer() (cert, key []byte, err error) {
	template, err := newTemplate("kube-apiserver", nil, certLifetime)
	if err != nil {
		return nil, nil, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 0, 0, 1)}
	template.DNSNames = []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local",
	}
	return a.issue(template)
}

// issueClient returns a certificate that authenticates a user.
func (a *authority) issueClient(user string, groups []string, lifetime time.Duration) (cert, key []byte, err error) {
	template, err := newTemplate(user, groups, lifetime)
	if err != nil {
		return nil, nil, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (cert, key []byte, err error) {
	private, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err := encodeKey(private)
	return encodePEM("CERTIFICATE", der), keyPEM, err
}

func newTemplate(name string, groups []string, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name, Organization: groups},
		NotBefore:             now.Add(-time.Minute),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encodePEM("EC PRIVATE KEY", der), nil
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// credentials are what a client needs.
type credentials struct {
	ca, adminCert, adminKey []byte
	adminToken, nobodyToken string
}

// prepare writes the files that the server program reads, unless dir has them already, and
// returns what a client needs.
func prepare(dir string) (*credentials, error) {
	ca, err := readAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		ca, err = writePKI(dir)
	}
	if err != nil {
		return nil, err
	}
	c := &credentials{ca: ca.certPEM(), adminToken: rand.Text(), nobodyToken: rand.Text()}
	c.adminCert, c.adminKey, err = ca.issueClient("admin", []string{mastersGroup}, certLifetime)
	if err != nil {
		return nil, err
	}
	// The columns are token, name, uid, groups.
	tokens := fmt.Sprintf("%s,admin,admin,%q\n%s,nobody,nobody\n", c.adminToken, mastersGroup, c.nobodyToken)
	return c, writeFile(dir, tokensFile, []byte(tokens))
}

func writePKI(dir string) (*authority, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	caKey, err := encodeKey(ca.key)
	if err != nil {
		return nil, err
	}
	cert, key, err := ca.issueServer()
	if err != nil {
		return nil, err
	}
	sa, err := newKey()
	if err != nil {
		return nil, err
	}
	saKey, err := encodeKey(sa)
	if err != nil {
		return nil, err
	}
	// The authority comes last: where it is, the rest is.
	for _, f := range []struct {
		name string
		data []byte
	}{
		{serverCertFile, cert},
		{serverKeyFile, key},
		{saKeyFile, saKey},
		{caKeyFile, caKey},
		{caCertFile, ca.certPEM()},
	} {
		if err := writeFile(dir, f.name, f.data); err != nil {
			return nil, err
		}
	}
	return ca, nil
}

func writeFile(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
