package kube

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
)

// tlsMaterial is what a handshake with the server needs, as bytes: what was configured, and
// what the configured files held when they were last read.
type tlsMaterial struct {
	ca, cert, key []byte
}

func (m tlsMaterial) equal(o tlsMaterial) bool {
	return bytes.Equal(m.ca, o.ca) && bytes.Equal(m.cert, o.cert) && bytes.Equal(m.key, o.key)
}

// readTLSMaterial takes data where the configuration has it, else reads the files.
func readTLSMaterial(c *Config) (m tlsMaterial, err error) {
	if m.ca, err = fileOrData("CA", c.CAData, c.CAFile); err != nil {
		return m, err
	}
	if m.cert, err = fileOrData("Cert", c.CertData, c.CertFile); err != nil {
		return m, err
	}
	m.key, err = fileOrData("Key", c.KeyData, c.KeyFile)
	return m, err
}

// fileOrData returns data, else what is in file; nothing without both.
func fileOrData(name string, data []byte, file string) ([]byte, error) {
	if len(data) > 0 || file == "" {
		return data, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("Config.%sFile: %w", name, err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("Config.%sFile: %s is empty", name, file)
	}
	return data, nil
}

// reloadsTLS reports whether handshakes depend on a file, which may be replaced.
func reloadsTLS(c *Config) bool {
	return len(c.CAData) == 0 && c.CAFile != "" ||
		len(c.CertData) == 0 && c.CertFile != "" ||
		len(c.KeyData) == 0 && c.KeyFile != ""
}

// tlsConfig makes the settings for connections to the server. Verification is always
// crypto/tls' own; when the material changes, a new tls.Config takes the place of the old one.
func (m tlsMaterial) tlsConfig(c *Config) (*tls.Config, error) {
	t := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         c.ServerName,
		InsecureSkipVerify: c.Insecure,
	}
	if len(m.ca) > 0 {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(m.ca) {
			return nil, fmt.Errorf("%s holds no PEM certificate", sourceName("CA", c.CAData, c.CAFile))
		}
	}
	if len(m.cert) == 0 && len(m.key) == 0 {
		return t, nil
	}
	cert, err := m.clientCertificate(c)
	if err != nil {
		return nil, err
	}
	// Through the callback the certificate is sent whatever authorities the server says it
	// accepts. The field Certificates would send none, and leave the client anonymous, when
	// the server's list does not hold the issuer, as it is with intermediate authorities.
	t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return newestCertificate(c, cert), nil
	}
	return t, nil
}

// newestCertificate reads the files of the client certificate once more, for each handshake: a
// server that no longer takes the old certificate may end the connection in a way that does
// not say why. What cannot be read or used leaves cert in place.
func newestCertificate(c *Config, cert *tls.Certificate) *tls.Certificate {
	if !c.hasClientCertificate() || !reloadsTLS(c) {
		return cert
	}
	m, err := readTLSMaterial(c)
	if err != nil {
		return cert
	}
	if newest, err := m.clientCertificate(c); err == nil {
		return newest
	}
	return cert
}

func (m tlsMaterial) clientCertificate(c *Config) (*tls.Certificate, error) {
	cert, err := tls.X509KeyPair(m.cert, m.key)
	if err != nil && !c.hasClientCertificate() {
		return nil, fmt.Errorf("the client certificate and key that Config.Credentials handed out do not belong together or are not PEM: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s and %s are not a certificate and its key: %w",
			sourceName("Cert", c.CertData, c.CertFile), sourceName("Key", c.KeyData, c.KeyFile), err)
	}
	return &cert, nil
}

func sourceName(what string, data []byte, file string) string {
	if len(data) > 0 {
		return "Config." + what + "Data"
	}
	return fmt.Sprintf("Config.%sFile (%s)", what, file)
}

// staleTLS reports whether err is how a handshake fails when an authority or a client
// certificate has been replaced: a reason to read the files before they are due.
func staleTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	if errors.As(err, &verification) {
		return true
	}
	return refusedByPeer(err)
}

// alertsOnCertificates are the TLS alerts (RFC 8446, 6.2) by which a server turns a client
// certificate down: bad_certificate, unsupported_certificate, certificate_revoked,
// certificate_expired, certificate_unknown, unknown_ca, access_denied, certificate_required.
var alertsOnCertificates = []tls.AlertError{42, 43, 44, 45, 46, 48, 49, 116}

// refusedByPeer reports whether the server ended the handshake because of the client's
// certificate. With TLS 1.3 that is only seen when the first answer is read.
func refusedByPeer(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return false
	}
	return slices.ContainsFunc(alertsOnCertificates, func(a tls.AlertError) bool {
		// The alert is an unexported type whose text is that of tls.AlertError.
		return op.Err.Error() == a.Error()
	})
}
