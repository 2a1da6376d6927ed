import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.EncryptedJWT;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.PKITLSClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.oauth2.sdk.token.TokenTypeURI;
import com.nimbusds.oauth2.sdk.tokenexchange.TokenExchangeGrant;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformation;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Nimbus' SDK through its natural flow: what it validates, we need not. */
public final class Nimbus {
    static final String SUBJECT = "818727";
    private static final Scope EVERYTHING = new Scope("openid", "profile", "email", "api1", "offline_access");

    private final Steps steps = new Steps();
    private OIDCProviderMetadata provider;
    private OIDCTokens tokens;
    private OIDCClientInformation registered;

    private Nimbus() {}

    public static void main(String[] arguments) throws Exception {
        var nimbus = new Nimbus();
        nimbus.steps.step("discovery: the metadata names this issuer", () ->
                nimbus.provider = OIDCProviderMetadata.resolve(new Issuer(System.getenv("ISSUER"))));
        if (nimbus.provider != null) nimbus.everything();
        nimbus.steps.finish();
    }

    private void everything() throws Exception {
        var web = new ClientID("web");
        var secret = new Secret("web-secret");
        signsInAndOut("client_secret_basic", new Application(provider, web, () -> new ClientSecretBasic(web, secret)));
        signsInAndOut("client_secret_post", new Application(provider, web, () -> new ClientSecretPost(web, secret)));
        var withSecret = new ClientID("web-with-hmac");
        signsInAndOut("client_secret_jwt", new Application(provider, withSecret, Signing.withSecret(provider, withSecret)));
        var withKey = new ClientID("web-with-key");
        signsInAndOut("private_key_jwt", new Application(provider, withKey, Signing.withKey(provider, withKey)));
        showsCertificate(new ClientID("web-certified"));
        asksInJwt(new ClientID("web-with-requests"));
        readsWhatIsEncrypted(new ClientID("web-sealed"));
        registersItself(new Registration(provider));
        actsForItself();
        bringsAssertions(new ClientID("courier"));
        exchangesTokens(new ClientID("courier"), new ClientID("api1"));
        asksOnAnotherDevice(new Backchannel(provider, new ClientID("till")));
        isPinged(new Backchannel(provider, new ClientID("till-pinged")));
    }

    private void isPinged(Backchannel till) {
        steps.step("CIBA: a ping says that the person has allowed it, again after a failure", () -> {
            try (var pings = new Pings()) {
                var token = new BearerAccessToken(32);
                var id = till.begin(till.pinged(till.of("alice"), token));
                till.confirm(id);
                for (var times = 0; times < 2; times++) {
                    var ping = pings.next();
                    Steps.expect(id, ping.getAuthRequestID());
                    Steps.expect(token.getValue(), ping.getAccessToken().getValue());
                }
                Steps.expect(SUBJECT, till.poll(id).getOIDCTokens().getIDToken().getJWTClaimsSet().getSubject());
            }
        });
        steps.step("CIBA: without a notification token there is nothing to ping with", () ->
                refusedWith("invalid_request", () -> till.begin(till.of("alice"))));
    }

    private void asksOnAnotherDevice(Backchannel till) {
        steps.step("CIBA: nothing before the person has allowed it, tokens afterwards, once", () -> {
            var id = till.begin(till.of("alice"));
            refusedWith("authorization_pending", () -> till.poll(id));
            till.confirm(id);
            var person = till.poll(id).getOIDCTokens().getIDToken().getJWTClaimsSet();
            Steps.expect(SUBJECT, person.getSubject());
            refusedWith("invalid_grant", () -> till.poll(id));
        });
        steps.step("CIBA: a signed request", () -> {
            var id = till.begin(till.signed(till.of("alice")));
            till.confirm(id);
            till.poll(id);
        });
        steps.step("CIBA: a user whom nobody knows", () ->
                refusedWith("unknown_user_id", () -> till.begin(till.of("nobody"))));
    }

    private void signsInAndOut(String method, Application app) {
        steps.step(method + ": code with PKCE, and an identity token that verifies", () ->
                tokens = app.signIn(EVERYTHING, request -> request));
        steps.step(method + ": userinfo knows the person", () -> {
            var person = app.userInfo(tokens.getAccessToken()).getUserInfo();
            Steps.expect(SUBJECT, person.getSubject().getValue());
            Steps.expect("alice@example.com", person.getEmailAddress());
        });
        steps.step(method + ": refresh takes a new refresh token each time", () -> {
            var renewed = app.refresh(tokens.getRefreshToken());
            Steps.expect(false, renewed.getRefreshToken().equals(tokens.getRefreshToken()));
            tokens = new OIDCTokens(tokens.getIDToken(), renewed.getAccessToken(), renewed.getRefreshToken());
        });
        steps.step(method + ": introspection knows the access token until it is revoked", () -> {
            Steps.expect(SUBJECT, app.introspect(tokens.getAccessToken()).getSubject().getValue());
            app.revoke(tokens.getRefreshToken());
            Steps.expect(false, app.introspect(tokens.getAccessToken()).isActive());
        });
        steps.step(method + ": a revoked refresh token is refused", () ->
                refusedWith("invalid_grant", () -> app.refresh(tokens.getRefreshToken())));
        steps.step(method + ": logout comes back, and nobody is signed in", () -> {
            var state = new State();
            Steps.expect("state=" + state, app.signOut(tokens.getIDToken(), state).getQuery());
            refusedWith("login_required", () -> app.signInUnseen(EVERYTHING));
        });
    }

    private void showsCertificate(ClientID id) throws Exception {
        var tls = MutualTls.of(id);
        var app = new Application(MutualTls.aliased(provider), id, tls.authentication(id));
        HTTPRequest.setDefaultSSLSocketFactory(tls.showing());
        signsInAndOut("tls_client_auth", app);
        steps.step("tls_client_auth: the token names the certificate", () -> {
            tokens = app.signIn(EVERYTHING, request -> request);
            Steps.expect(true, tls.isNamedIn(tokens.getAccessToken()));
            Steps.expect(SUBJECT, app.userInfo(tokens.getAccessToken()).getUserInfo().getSubject().getValue());
        });
        HTTPRequest.setDefaultSSLSocketFactory(tls.anonymous());
        steps.step("tls_client_auth: without the certificate userinfo refuses the token", () ->
                refusedWith("invalid_token", () -> app.userInfo(tokens.getAccessToken())));
        var unseen = new Application(app.provider(), id, () -> new PKITLSClientAuthentication(id, tls.anonymous()));
        steps.step("tls_client_auth: without the certificate a refresh is refused, and spends nothing", () -> {
            refusedWith("invalid_client", () -> unseen.refresh(tokens.getRefreshToken()));
            app.refresh(tokens.getRefreshToken());
        });
    }

    private void asksInJwt(ClientID id) throws Exception {
        var app = new Application(provider, id, Signing.withKey(provider, id));
        steps.step("request object: signed", () -> app.signIn(EVERYTHING, RequestObjects::signed));
        steps.step("request object: signed, and encrypted to the provider", () ->
                app.signIn(EVERYTHING, request -> RequestObjects.encrypted(request, provider)));
        steps.step("request object: a client that signs everything gets nothing unsigned", () ->
                refusedWith("invalid_request", () -> app.signInUnseen(EVERYTHING)));
    }

    private void readsWhatIsEncrypted(ClientID id) throws Exception {
        var decryption = Verification.decryptionBy(Keys.encryption());
        var verification = Verification.keysOf(provider);
        var validator = new IDTokenValidator(provider.getIssuer(), id, verification, decryption);
        var app = new Application(provider, id, Signing.withKey(provider, id), validator);
        steps.step("encryption: an identity token that only this client can read", () -> {
            tokens = app.signIn(new Scope("openid", "email"), request -> request);
            Steps.expect(true, tokens.getIDToken() instanceof EncryptedJWT);
        });
        steps.step("encryption: userinfo that only this client can read", () -> {
            var processor = new DefaultJWTProcessor<SecurityContext>();
            processor.setJWSKeySelector(verification);
            processor.setJWEKeySelector(decryption);
            var claims = processor.process(app.userInfo(tokens.getAccessToken()).getUserInfoJWT(), null);
            Steps.expect("alice@example.com", claims.getStringClaim("email"));
        });
    }

    private void registersItself(Registration registration) {
        steps.step("registration: a client registers itself and reads what it registered", () -> {
            registered = registration.register(Registration.metadata("Nimbus"));
            Steps.expect("Nimbus", registration.read(registered).getOIDCMetadata().getName());
        });
        steps.step("registration: it gives itself another name", () -> {
            var renamed = registration.update(registered, Registration.metadata("Strato"));
            Steps.expect("Strato", renamed.getOIDCMetadata().getName());
        });
        signsInAndOut("registered", registration.application(registered));
        steps.step("registration: it ends itself, and is a stranger", () -> {
            registration.delete(registered);
            refusedWith("invalid_token", () -> registration.read(registered));
            var grant = new ClientCredentialsGrant();
            refusedWith("invalid_client", () -> registration.application(registered).ask(grant, null));
        });
    }

    private void actsForItself() {
        var id = new ClientID("machine");
        var machine = new Application(provider, id, () -> new ClientSecretBasic(id, new Secret("machine-secret")));
        steps.step("client_credentials: a token that introspects as the machine's", () -> {
            var issued = machine.ask(new ClientCredentialsGrant(), new Scope("api1")).getTokens();
            Steps.expect(id, machine.introspect(issued.getAccessToken()).getClientID());
        });
    }

    private void bringsAssertions(ClientID id) {
        var issuer = provider.getIssuer();
        var courier = new Application(provider, id, () -> new ClientSecretBasic(id, new Secret("courier-secret")));
        steps.step("jwt-bearer: an assertion of another issuer, once", () -> {
            var grant = Assertions.about("their-alice", issuer);
            var token = courier.ask(grant, new Scope("api1")).getTokens().getAccessToken();
            Steps.expect("partner:their-alice", courier.introspect(token).getSubject().getValue());
            refusedWith("invalid_grant", () -> courier.ask(grant, new Scope("api1")));
        });
        steps.step("jwt-bearer: an assertion for another server is refused", () ->
                refusedWith("invalid_grant", () ->
                        courier.ask(Assertions.about("their-alice", new Issuer("https://other.example")), null)));
        steps.step("jwt-bearer: an ID-JAG for this client, and none for another one", () -> {
            var grant = Assertions.idJag("their-alice", issuer, "courier", "api1 api2");
            Steps.expect(new Scope("api1"), courier.ask(grant, null).getTokens().getAccessToken().getScope());
            var foreign = Assertions.idJag("their-alice", issuer, "web", "api1");
            refusedWith("invalid_grant", () -> courier.ask(foreign, null));
        });
    }

    private void exchangesTokens(ClientID first, ClientID second) {
        var courier = new Application(provider, first, () -> new ClientSecretBasic(first, new Secret("courier-secret")));
        var api = new Application(provider, second, () -> new ClientSecretBasic(second, new Secret("api1-secret")));
        Callable<TokenExchangeGrant> exchange = () -> {
            var grant = Assertions.about("their-alice", provider.getIssuer());
            var source = courier.ask(grant, new Scope("api1")).getTokens().getAccessToken();
            return new TokenExchangeGrant(source, TokenTypeURI.ACCESS_TOKEN);
        };
        steps.step("token exchange: a token for the next API, in which this one acts", () -> {
            var token = api.ask(exchange.call(), new Scope("api2")).getTokens().getAccessToken();
            Steps.expect(TokenTypeURI.ACCESS_TOKEN, token.getIssuedTokenType());
            var claims = SignedJWT.parse(token.getValue()).getJWTClaimsSet();
            Steps.expect(List.of("api2"), claims.getAudience());
            Steps.expect(Map.of("sub", "api1"), claims.getJSONObjectClaim("act"));
        });
        steps.step("token exchange: a scope that no rule allows is refused", () ->
                refusedWith("invalid_scope", () -> api.ask(exchange.call(), new Scope("api1"))));
    }

    private static void refusedWith(String error, Steps.Step step) throws Exception {
        try {
            step.run();
        } catch (Application.Refused refused) {
            Steps.expect(error, refused.getMessage());
            return;
        }
        throw new AssertionError("not refused");
    }
}
