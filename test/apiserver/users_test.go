package apiserver

import (
	"bytes"
	"encoding/json/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestUsers(t *testing.T) {
	s := Shared(t)
	aliceCert, aliceKey, err := s.IssueClient("alice", []string{"builders"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const masters = mastersGroup + ",system:authenticated"
	for _, test := range []struct {
		name         string
		creds        credentials
		token        string
		user, groups string
		secrets      int // status of a request that needs rights
	}{
		{"certificate", credentials{adminCert: s.AdminCert(), adminKey: s.AdminKey()}, "", "admin", masters, 200},
		{"token", credentials{}, s.AdminToken(), "admin", masters, 200},
		{"nobody", credentials{}, s.NobodyToken(), "nobody", "system:authenticated", 403},
		{"issued", credentials{adminCert: aliceCert, adminKey: aliceKey}, "", "alice", "builders,system:authenticated", 403},
		{"unknown token", credentials{}, "unknown", "", "", 401},
		{"none", credentials{}, "", "", "", 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := client{t, s, clientFor(t, s, test.creds), test.token}
			if status, _ := c.request(http.MethodGet, "/api/v1/secrets", ""); status != test.secrets {
				t.Errorf("secrets: status %d, want %d", status, test.secrets)
			}
			if test.user == "" {
				return
			}
			user, groups := c.whoAmI()
			if user != test.user || strings.Join(groups, ",") != test.groups {
				t.Errorf("user %s of %q, want %s of %s", user, groups, test.user, test.groups)
			}
		})
	}
}

// client makes requests as one user.
type client struct {
	t     *testing.T
	s     *Server
	http  *http.Client
	token string
}

// clientFor returns a client with a certificate, or with none.
func clientFor(t *testing.T, s *Server, creds credentials) *http.Client {
	creds.ca = s.CA()
	withCert := len(creds.adminCert) > 0
	if !withCert {
		creds.adminCert, creds.adminKey = s.AdminCert(), s.AdminKey()
	}
	c, err := newHTTPClient(&creds)
	if err != nil {
		t.Fatal(err)
	}
	transport := c.Transport.(*http.Transport)
	if !withCert {
		transport.TLSClientConfig.Certificates = nil
	}
	t.Cleanup(transport.CloseIdleConnections)
	return c
}

func (c client) request(method, path, body string) (status int, answer []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.s.URL()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var data bytes.Buffer
	if _, err := data.ReadFrom(resp.Body); err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, data.Bytes()
}

func (c client) whoAmI() (user string, groups []string) {
	c.t.Helper()
	status, data := c.request(http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	var review struct {
		Status struct {
			UserInfo struct {
				Username string   `json:"username"`
				Groups   []string `json:"groups"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &review); err != nil || status != http.StatusCreated {
		c.t.Fatalf("self subject review: status %d, %v\n%s", status, err, data)
	}
	return review.Status.UserInfo.Username, review.Status.UserInfo.Groups
}
