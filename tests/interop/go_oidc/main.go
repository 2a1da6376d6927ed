// golang.org/x/oauth2 with github.com/coreos/go-oidc through their natural flow: what they validate, we need not.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const subject = "818727"

var (
	ctx    = context.Background()
	issuer = os.Getenv("ISSUER")
)

// application is a web application that knows its provider by discovery.
type application struct {
	provider *oidc.Provider
	oauth    oauth2.Config
	token    *oauth2.Token
	idToken  string
}

func discovered() (*application, error) {
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	return &application{provider: provider, oauth: oauth2.Config{
		ClientID:     "web",
		ClientSecret: "web-secret",
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("ERRANDS") + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", "api1", oidc.ScopeOfflineAccess},
	}}, nil
}

// signIn is the whole authorization code flow with PKCE, with everything that the answer is checked against.
func (app *application) signIn() error {
	state, nonce, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	answer, err := visit(app.oauth.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return err
	}
	if err := errors.Join(expect("state", answer.Get("state"), state), expect("iss", answer.Get("iss"), issuer)); err != nil {
		return err
	}
	app.token, err = app.oauth.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	return app.verify(nonce)
}

// verify checks the identity token: signature, issuer, audience, expiry, nonce, at_hash.
func (app *application) verify(nonce string) error {
	raw, isThere := app.token.Extra("id_token").(string)
	if !isThere {
		return errors.New("there is no id_token")
	}
	app.idToken = raw
	idToken, err := app.provider.VerifierContext(ctx, &oidc.Config{ClientID: app.oauth.ClientID}).Verify(ctx, raw)
	if err != nil {
		return err
	}
	hash := error(nil)
	if idToken.AccessTokenHash != "" {
		hash = idToken.VerifyAccessToken(app.token.AccessToken)
	}
	return errors.Join(hash, expect("sub", idToken.Subject, subject), expect("nonce", idToken.Nonce, nonce))
}

func (app *application) userinfo() error {
	info, err := app.provider.UserInfo(ctx, oauth2.StaticTokenSource(app.token))
	if err != nil {
		return err
	}
	return errors.Join(
		expect("sub", info.Subject, subject),
		expect("email", info.Email, "alice@example.com"),
		expect("email_verified", info.EmailVerified, true),
	)
}

// refresh lets a token source renew a token that has run out, as an http.Client of x/oauth2 does by itself.
func (app *application) refresh() error {
	renewed, err := app.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: app.token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	if renewed.AccessToken == app.token.AccessToken || renewed.RefreshToken == app.token.RefreshToken {
		return errors.New("the tokens are the old ones")
	}
	return nil
}

// replay redeems a refresh token for the second time.
func (app *application) replay() error {
	_, err := app.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: app.token.RefreshToken}).Token()
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("it was not refused: %w", err)
	}
	return expect("error", refused.ErrorCode, "invalid_grant")
}

func clientCredentials(style oauth2.AuthStyle) func() error {
	return func() error {
		config := clientcredentials.Config{
			ClientID: "machine", ClientSecret: "machine-secret", TokenURL: issuer + "/connect/token",
			Scopes: []string{"api1"}, AuthStyle: style,
		}
		token, err := config.Token(ctx)
		if err != nil {
			return err
		}
		return errors.Join(expect("type", token.Type(), "Bearer"), expect("valid", token.Valid(), true))
	}
}

// signOut is RP-initiated logout, which go-oidc leaves to its user, by the endpoint from the metadata.
func (app *application) signOut() error {
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := app.provider.Claims(&metadata); err != nil {
		return err
	}
	request := url.Values{
		"id_token_hint":            {app.idToken},
		"post_logout_redirect_uri": {os.Getenv("ERRANDS") + "/signed-out"},
		"state":                    {"bye"},
	}
	answer, err := visit(metadata.EndSession + "?" + request.Encode())
	if err != nil {
		return err
	}
	return expect("state", answer.Get("state"), "bye")
}

// device asks for codes, lets the person allow them, and polls until the tokens come (RFC 8628).
func (app *application) device() error {
	config := oauth2.Config{
		ClientID: "tv", Endpoint: app.provider.Endpoint(),
		Scopes: []string{oidc.ScopeOpenID, "api1", oidc.ScopeOfflineAccess},
	}
	config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	codes, err := config.DeviceAuth(ctx)
	if err != nil {
		return err
	}
	if _, err := visit(codes.VerificationURIComplete); err != nil {
		return err
	}
	token, err := config.DeviceAccessToken(ctx, codes)
	if err != nil {
		return err
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := app.provider.VerifierContext(ctx, &oidc.Config{ClientID: "tv"}).Verify(ctx, raw)
	if err != nil {
		return err
	}
	return errors.Join(expect("sub", idToken.Subject, subject), expect("refreshable", token.RefreshToken != "", true))
}

func main() {
	var steps steps
	app, err := discovered()
	steps.step("discovery: the metadata names this issuer", func() error { return err })
	if err == nil {
		steps.step("code with PKCE: an identity token that verifies", app.signIn)
		steps.step("userinfo: the person's claims, of the right types", app.userinfo)
		steps.step("refresh: a token source renews by itself", app.refresh)
		steps.step("refresh: a token that comes again is refused", app.replay)
		steps.step("client_credentials: secret in the header", clientCredentials(oauth2.AuthStyleInHeader))
		steps.step("client_credentials: secret in the form", clientCredentials(oauth2.AuthStyleInParams))
		steps.step("client_credentials: the library finds out which", clientCredentials(oauth2.AuthStyleAutoDetect))
		steps.step("logout: comes back with the state", app.signOut)
		steps.step("device: tokens once the person has allowed it", app.device)
		mutualTLS(&steps, app.provider)
	}
	steps.finish()
}
