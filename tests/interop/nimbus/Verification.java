import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.JWEDecryptionKeySelector;
import com.nimbusds.jose.proc.JWEKeySelector;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.MalformedURLException;

/** By which keys what the provider made is verified, and decrypted where it is encrypted to the client. */
final class Verification {
    static final JWSAlgorithm ALGORITHM = JWSAlgorithm.RS256;

    private Verification() {}

    static IDTokenValidator ofSignature(OIDCProviderMetadata provider, ClientID client) {
        return new IDTokenValidator(provider.getIssuer(), client, keysOf(provider), null);
    }

    static JWSKeySelector<SecurityContext> keysOf(OIDCProviderMetadata provider) {
        try {
            var published = JWKSourceBuilder.create(provider.getJWKSetURI().toURL()).build();
            return new JWSVerificationKeySelector<>(ALGORITHM, published);
        } catch (MalformedURLException wrong) {
            throw new IllegalArgumentException(wrong);
        }
    }

    static JWEKeySelector<SecurityContext> decryptionBy(JWK key) {
        var own = new ImmutableJWKSet<SecurityContext>(new JWKSet(key));
        return new JWEDecryptionKeySelector<>(JWEAlgorithm.ECDH_ES_A128KW, EncryptionMethod.A256GCM, own);
    }
}
