import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretJWT;
import com.nimbusds.oauth2.sdk.auth.PrivateKeyJWT;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.util.function.Supplier;

/** Clients that sign an assertion in place of sending a secret (RFC 7523, section 2.2), a new one each time. */
final class Signing {
    @FunctionalInterface
    private interface Signed {
        ClientAuthentication assertion() throws JOSEException;
    }

    private Signing() {}

    static Supplier<ClientAuthentication> withSecret(OIDCProviderMetadata provider, ClientID id) {
        var secret = new Secret("web-with-hmac-secret-of-more-than-32-bytes");
        return each(() -> new ClientSecretJWT(id, provider.getTokenEndpointURI(), JWSAlgorithm.HS256, secret));
    }

    static Supplier<ClientAuthentication> withKey(OIDCProviderMetadata provider, ClientID id) throws Exception {
        var key = Keys.signing();
        var signer = key.toPrivateKey();
        return each(() -> new PrivateKeyJWT(
                id, provider.getTokenEndpointURI(), JWSAlgorithm.ES256, signer, key.getKeyID(), null));
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
