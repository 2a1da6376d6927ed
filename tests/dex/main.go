// Runs dex's own server with one client and one user, kept in memory.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/dexidp/dex/web"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:5556", "address to listen at")
	issuer := flag.String("issuer", "http://localhost:5556", "dex's issuer")
	redirectURI := flag.String("redirect-uri", "", "the client's")
	flag.Parse()
	logger := logrus.New()
	if err := run(*listen, *issuer, *redirectURI, logger); err != nil {
		logger.Error(err)
		os.Exit(1)
	}
}

func run(listen, issuer, redirectURI string, logger *logrus.Logger) error {
	hash, err := bcrypt.GenerateFromPassword([]byte("alice-password"), bcrypt.DefaultCost)
	if err != nil {
		return err
	}
	kept := storage.WithStaticClients(memory.New(logger), []storage.Client{{
		ID: "token-service", Secret: "token-service-secret", RedirectURIs: []string{redirectURI},
	}})
	kept = storage.WithStaticPasswords(kept, []storage.Password{{
		Email: "alice@partner.example", Hash: hash, Username: "alice", UserID: "08a8684b",
	}}, logger)
	kept = storage.WithStaticConnectors(kept, []storage.Connector{{
		ID: server.LocalConnector, Type: server.LocalConnector, Name: "Email",
	}})
	dex, err := server.NewServer(context.Background(), server.Config{
		Issuer: issuer, Storage: kept, SkipApprovalScreen: true, Logger: logger,
		Web: server.WebConfig{WebFS: web.FS()},
	})
	if err != nil {
		return err
	}
	return http.ListenAndServe(listen, dex)
}
