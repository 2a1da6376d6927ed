package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// certified is a client that authenticates by its certificate (RFC 8705, section 2), to which its tokens are bound (section 3).
type certified struct {
	oauth       oauth2.Config
	userinfo    string
	certificate tls.Certificate
	token       *oauth2.Token
}

func file(name string) string {
	return filepath.Join(os.Getenv("WORKPLACE"), name)
}

// certify reads the client's certificate, and the endpoints that ask for one (section 5).
func certify(provider *oidc.Provider) (*certified, error) {
	var metadata struct {
		Aliases struct {
			Token    string `json:"token_endpoint"`
			Userinfo string `json:"userinfo_endpoint"`
		} `json:"mtls_endpoint_aliases"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	own, err := tls.LoadX509KeyPair(file("web-certified.pem"), file("web-certified.pem"))
	if err != nil {
		return nil, err
	}
	endpoint := oauth2.Endpoint{
		AuthURL:   provider.Endpoint().AuthURL,
		TokenURL:  metadata.Aliases.Token,
		AuthStyle: oauth2.AuthStyleInParams,
	}
	return &certified{
		oauth: oauth2.Config{
			ClientID:    "web-certified",
			Endpoint:    endpoint,
			RedirectURL: os.Getenv("ERRANDS") + "/callback",
			Scopes:      []string{oidc.ScopeOpenID, "email"},
		},
		userinfo:    metadata.Aliases.Userinfo,
		certificate: own,
	}, nil
}

// showing is an http.Client that shows these certificates to the server, which it knows.
func showing(certificates ...tls.Certificate) *http.Client {
	known := x509.NewCertPool()
	if trusted, err := os.ReadFile(file("server.pem")); err == nil {
		known.AppendCertsFromPEM(trusted)
	}
	settings := &tls.Config{Certificates: certificates, RootCAs: known}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: settings}}
}

func with(client *http.Client) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, client)
}

// signIn is the code flow with PKCE; a code that is not redeemed for lack of a certificate is good afterwards.
func (app *certified) signIn() error {
	verifier := oauth2.GenerateVerifier()
	answer, err := visit(app.oauth.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return err
	}
	code, option := answer.Get("code"), oauth2.VerifierOption(verifier)
	_, err = app.oauth.Exchange(with(showing()), code, option)
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("it was not refused without a certificate: %w", err)
	}
	app.token, err = app.oauth.Exchange(with(showing(app.certificate)), code, option)
	return errors.Join(err, expect("error", refused.ErrorCode, "invalid_client"))
}

// names compares the certificate with the one in the token (section 3.1).
func (app *certified) names() error {
	var claims struct {
		Confirmation struct {
			Thumbprint string `json:"x5t#S256"`
		} `json:"cnf"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(app.token.AccessToken, ".")[1])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return err
	}
	hash := sha256.Sum256(app.certificate.Certificate[0])
	return expect("x5t#S256", claims.Confirmation.Thumbprint, base64.RawURLEncoding.EncodeToString(hash[:]))
}

// answers is how userinfo answers the token over a connection with these certificates.
func (app *certified) answers(wanted int, certificates ...tls.Certificate) error {
	response, err := app.oauth.Client(with(showing(certificates...)), app.token).Get(app.userinfo)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return expect("status", response.StatusCode, wanted)
}

func (app *certified) stranger() error {
	another, err := tls.LoadX509KeyPair(file("stranger.pem"), file("stranger.pem"))
	if err != nil {
		return err
	}
	return app.answers(http.StatusUnauthorized, another)
}

func mutualTLS(steps *steps, provider *oidc.Provider) {
	app, err := certify(provider)
	steps.step("mutual TLS: the metadata name the endpoints for it", func() error { return err })
	if err != nil {
		return
	}
	steps.step("mutual TLS: a code is redeemed by the certificate alone", app.signIn)
	if app.token == nil {
		return
	}
	steps.step("mutual TLS: the token names the certificate", app.names)
	steps.step("mutual TLS: userinfo takes the token with the certificate", func() error {
		return app.answers(http.StatusOK, app.certificate)
	})
	steps.step("mutual TLS: userinfo refuses the token without it", func() error {
		return app.answers(http.StatusUnauthorized)
	})
	steps.step("mutual TLS: userinfo refuses the token with another", app.stranger)
}
