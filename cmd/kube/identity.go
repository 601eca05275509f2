package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// identity is the certificate of a server on this machine. It is its own authority, and its key
// is in memory only.
type identity struct {
	certificate tls.Certificate
	pem         []byte
}

// identityLife is how long a certificate is valid: longer than any server runs.
const identityLife = 365 * 24 * time.Hour

func newIdentity(now time.Time) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "kube dev"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(identityLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &identity{
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

func (i *identity) serverConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{i.certificate}, MinVersion: tls.VersionTLS12}
}

// kubeconfig returns a kubeconfig for the server at url. Its user has a token, since clients
// want to be somebody; the server takes everyone.
func (i *identity) kubeconfig(url string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: kube-dev
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: kube-dev
  user:
    token: kube-dev
contexts:
- name: kube-dev
  context:
    cluster: kube-dev
    user: kube-dev
current-context: kube-dev
`, url, base64.StdEncoding.EncodeToString(i.pem))
}
