// An API in Go that accepts access tokens for api1 (RFC 9068, RFC 6750).
//
//	go run .
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	issuer   = "http://localhost:8080"
	audience = "api1"
	scope    = "api1"
)

var algorithms = []string{oidc.RS256, oidc.ES256}

// claims are what this API reads of an access token.
type claims struct {
	Subject string `json:"sub"`
	Client  string `json:"client_id"`
	Scope   string `json:"scope"`
}

// verify returns the claims of an access token of the issuer for this API (RFC 9068 §4).
func verify(ctx context.Context, verifier *oidc.IDTokenVerifier, token string) (found claims, err error) {
	parsed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return found, err
	}
	if parsed.Signatures[0].Header.ExtraHeaders[jose.HeaderType] != "at+jwt" {
		return found, errors.New("not an access token")
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return found, err
	}
	return found, verified.Claims(&found)
}

// protect lets only requests with a good token through, and says what is wrong with the others (RFC 6750 §3).
func protect(verifier *oidc.IDTokenVerifier, next func(http.ResponseWriter, claims)) http.HandlerFunc {
	refuse := func(w http.ResponseWriter, status int, challenge string) {
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, http.StatusText(status), status)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			refuse(w, http.StatusUnauthorized, "Bearer")
			return
		}
		caller, err := verify(r.Context(), verifier, token)
		if err != nil {
			refuse(w, http.StatusUnauthorized, `Bearer error="invalid_token"`)
			return
		}
		if !slices.Contains(strings.Fields(caller.Scope), scope) {
			refuse(w, http.StatusForbidden, `Bearer error="insufficient_scope"`)
			return
		}
		next(w, caller)
	}
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), issuer) // reads the metadata; keys follow by themselves
	if err != nil {
		log.Fatal(err)
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: audience, SupportedSigningAlgs: algorithms})
	http.HandleFunc("GET /{$}", protect(verifier, func(w http.ResponseWriter, caller claims) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"subject": caller.Subject, "client": caller.Client})
	}))
	log.Fatal(http.ListenAndServe("localhost:3001", nil))
}
