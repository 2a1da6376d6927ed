import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretJWT;
import com.nimbusds.oauth2.sdk.auth.PrivateKeyJWT;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/** Clients that sign an assertion in place of sending a secret (RFC 7523, section 2.2), a new one each time. */
final class Signing {
    @FunctionalInterface
    private interface Signed {
        ClientAuthentication assertion() throws JOSEException;
    }

    private Signing() {}

    static Application withSecret(OIDCProviderMetadata provider) {
        var id = new ClientID("web-with-hmac");
        var secret = new Secret("web-with-hmac-secret-of-more-than-32-bytes");
        var endpoint = provider.getTokenEndpointURI();
        return new Application(provider, id, each(() -> new ClientSecretJWT(id, endpoint, JWSAlgorithm.HS256, secret)));
    }

    static Application withKey(OIDCProviderMetadata provider) throws Exception {
        var id = new ClientID("web-with-key");
        var key = ECKey.parse(Files.readString(Path.of(System.getenv("WORKPLACE"), "client-key.json")));
        var endpoint = provider.getTokenEndpointURI();
        var signer = key.toPrivateKey();
        return new Application(provider, id, each(() ->
                new PrivateKeyJWT(id, endpoint, JWSAlgorithm.ES256, signer, key.getKeyID(), null)));
    }

    private static Supplier<ClientAuthentication> each(Signed signed) {
        return () -> {
            try {
                return signed.assertion();
            } catch (JOSEException impossible) {
                throw new IllegalStateException(impossible);
            }
        };
    }
}
