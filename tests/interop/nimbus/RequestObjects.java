import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jwt.EncryptedJWT;
import com.nimbusds.jwt.JWT;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;

/** Puts what is asked for into a JWT that the client signs, and may encrypt to the provider (RFC 9101). */
final class RequestObjects {
    private RequestObjects() {}

    static AuthenticationRequest signed(AuthenticationRequest request) throws Exception {
        return of(request, jwt(request));
    }

    static AuthenticationRequest encrypted(AuthenticationRequest request, OIDCProviderMetadata provider) throws Exception {
        var wanted = new JWKMatcher.Builder()
                .keyUse(KeyUse.ENCRYPTION)
                .algorithm(JWEAlgorithm.RSA_OAEP_256)
                .build();
        var key = new JWKSelector(wanted).select(JWKSet.load(provider.getJWKSetURI().toURL())).get(0);
        var header = new JWEHeader.Builder(JWEAlgorithm.RSA_OAEP_256, EncryptionMethod.A256GCM)
                .contentType("JWT")
                .keyID(key.getKeyID())
                .build();
        var sealed = new JWEObject(header, new Payload(jwt(request)));
        sealed.encrypt(new RSAEncrypter(key.toRSAKey()));
        return of(request, EncryptedJWT.parse(sealed.serialize()));
    }

    private static SignedJWT jwt(AuthenticationRequest request) throws Exception {
        var key = Keys.signing();
        var header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build();
        var jwt = new SignedJWT(header, request.toJWTClaimsSet());
        jwt.sign(new ECDSASigner(key));
        return jwt;
    }

    private static AuthenticationRequest of(AuthenticationRequest request, JWT object) {
        return new AuthenticationRequest.Builder(object, request.getClientID())
                .endpointURI(request.getEndpointURI())
                .build();
    }
}
