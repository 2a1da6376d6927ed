import com.nimbusds.jwt.JWT;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.ErrorObject;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenIntrospectionRequest;
import com.nimbusds.oauth2.sdk.TokenIntrospectionResponse;
import com.nimbusds.oauth2.sdk.TokenIntrospectionSuccessResponse;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.oauth2.sdk.token.Token;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponse;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.LogoutRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.Prompt;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.UserInfoSuccessResponse;
import com.nimbusds.openid.connect.sdk.claims.AccessTokenHash;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.AccessTokenValidator;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.URI;
import java.util.function.Supplier;

/** A web application that is one client of the provider; each request has an authentication of its own. */
record Application(
        OIDCProviderMetadata provider,
        ClientID id,
        Supplier<ClientAuthentication> authentication,
        IDTokenValidator identityTokens) {

    /** A client whose identity tokens are signed, and no more. */
    Application(OIDCProviderMetadata provider, ClientID id, Supplier<ClientAuthentication> authentication) {
        this(provider, id, authentication, Verification.ofSignature(provider, id));
    }

    /** A refusal, with the error that the provider gave as its reason. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(ErrorObject error) {
            super(error.getCode());
        }
    }

    /** How a request travels: as it is, or in a JWT. */
    @FunctionalInterface
    interface Packing {
        AuthenticationRequest pack(AuthenticationRequest request) throws Exception;
    }

    /** The whole authorization code flow with PKCE, with everything that the answer is checked against. */
    OIDCTokens signIn(Scope scope, Packing packing) throws Exception {
        var nonce = new Nonce();
        var verifier = new CodeVerifier();
        var tokens = redeem(authorize(request(scope, nonce, verifier).build(), packing), verifier);
        verify(tokens, nonce);
        return tokens;
    }

    /** Whether somebody is signed in, who need not be asked for anything. */
    void signInUnseen(Scope scope) throws Exception {
        var unseen = new Prompt(Prompt.Type.NONE);
        authorize(request(scope, new Nonce(), new CodeVerifier()).prompt(unseen).build(), request -> request);
    }

    private AuthenticationRequest.Builder request(Scope scope, Nonce nonce, CodeVerifier verifier) {
        return new AuthenticationRequest.Builder(ResponseType.CODE, scope, id, Person.CALLBACK)
                .endpointURI(provider.getAuthorizationEndpointURI())
                .state(new State())
                .nonce(nonce)
                .codeChallenge(verifier, CodeChallengeMethod.S256);
    }

    private AuthorizationCode authorize(AuthenticationRequest request, Packing packing) throws Exception {
        URI address = packing.pack(request).toURI();
        AuthenticationResponse answer = AuthenticationResponseParser.parse(Person.visit(address));
        Steps.expect(request.getState(), answer.getState());
        Steps.expect(provider.getIssuer(), answer.getIssuer());
        if (!answer.indicatesSuccess()) throw new Refused(answer.toErrorResponse().getErrorObject());
        return answer.toSuccessResponse().getAuthorizationCode();
    }

    private OIDCTokens redeem(AuthorizationCode code, CodeVerifier verifier) throws Exception {
        return ask(new AuthorizationCodeGrant(code, Person.CALLBACK, verifier), null).getOIDCTokens();
    }

    OIDCTokenResponse ask(AuthorizationGrant grant, Scope scope) throws Exception {
        var request = new TokenRequest.Builder(provider.getTokenEndpointURI(), authentication.get(), grant);
        TokenResponse answer = OIDCTokenResponseParser.parse(request.scope(scope).build().toHTTPRequest().send());
        if (!answer.indicatesSuccess()) throw new Refused(answer.toErrorResponse().getErrorObject());
        return (OIDCTokenResponse) answer.toSuccessResponse();
    }

    private void verify(OIDCTokens tokens, Nonce nonce) throws Exception {
        IDTokenClaimsSet claims = identityTokens.validate(tokens.getIDToken(), nonce);
        Steps.expect(Nimbus.SUBJECT, claims.getSubject().getValue());
        AccessTokenHash hash = claims.getAccessTokenHash();
        if (hash != null) AccessTokenValidator.validate(tokens.getAccessToken(), Verification.ALGORITHM, hash);
    }

    OIDCTokens refresh(RefreshToken token) throws Exception {
        return ask(new RefreshTokenGrant(token), null).getOIDCTokens();
    }

    UserInfoSuccessResponse userInfo(AccessToken token) throws Exception {
        var request = new UserInfoRequest(provider.getUserInfoEndpointURI(), token);
        var answer = UserInfoResponse.parse(request.toHTTPRequest().send());
        if (!answer.indicatesSuccess()) throw new Refused(answer.toErrorResponse().getErrorObject());
        return answer.toSuccessResponse();
    }

    TokenIntrospectionSuccessResponse introspect(Token token) throws Exception {
        var request = new TokenIntrospectionRequest(provider.getIntrospectionEndpointURI(), authentication.get(), token);
        return TokenIntrospectionResponse.parse(request.toHTTPRequest().send()).toSuccessResponse();
    }

    void revoke(Token token) throws Exception {
        var request = new TokenRevocationRequest(provider.getRevocationEndpointURI(), authentication.get(), token);
        request.toHTTPRequest().send().ensureStatusCode(200);
    }

    /** RP-initiated logout; where it ended. */
    URI signOut(JWT idToken, State state) throws Exception {
        var endpoint = provider.getEndSessionEndpointURI();
        return Person.visit(new LogoutRequest(endpoint, idToken, Person.SIGNED_OUT, state).toURI());
    }
}
