// Authenticates the token on standard input as kube-apiserver does: with its own code and a configuration file.
//
//	go run . authentication.yaml ca.pem < token
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

func main() {
	configuration := load(os.Args[1])
	authority, err := os.ReadFile(os.Args[2])
	check(err)
	token, err := io.ReadAll(os.Stdin)
	check(err)

	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	trusted, err := dynamiccertificates.NewStaticCAContent("ca", authority)
	check(err)
	authenticator, err := oidc.New(ctx, oidc.Options{
		JWTAuthenticator:     configuration.JWT[0],
		CAContentProvider:    trusted,
		SupportedSigningAlgs: oidc.AllValidSigningAlgorithms(),
		Compiler:             authenticationcel.NewDefaultCompiler(),
	})
	check(err)
	for authenticator.HealthCheck() != nil { // it fetches metadata and keys in the background
		if ctx.Err() != nil {
			log.Fatal(authenticator.HealthCheck())
		}
		time.Sleep(100 * time.Millisecond)
	}
	answer, ok, err := authenticator.AuthenticateToken(ctx, strings.TrimSpace(string(token)))
	if !ok || err != nil {
		fmt.Println("refused")
		return
	}
	fmt.Println(answer.User.GetName(), answer.User.GetUID())
}

// load reads and validates the file with kube-apiserver's own rules.
func load(name string) *apiserver.AuthenticationConfiguration {
	text, err := os.ReadFile(name)
	check(err)
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	decoded, err := runtime.Decode(codecs.UniversalDecoder(), text)
	check(err)
	configuration := decoded.(*apiserver.AuthenticationConfiguration)
	compiler := authenticationcel.NewDefaultCompiler()
	check(validation.ValidateAuthenticationConfiguration(compiler, configuration, nil).ToAggregate())
	return configuration
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
