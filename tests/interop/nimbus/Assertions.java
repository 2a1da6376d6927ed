import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.JWTBearerGrant;
import com.nimbusds.oauth2.sdk.id.Audience;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.JWTID;
import com.nimbusds.oauth2.sdk.id.Subject;
import com.nimbusds.oauth2.sdk.assertions.jwt.JWTAssertionDetails;
import java.util.Date;

/** Another authorization server, which makes assertions about its users (RFC 7523, section 2.1). */
final class Assertions {
    private static final String ISSUER = "https://as.partner.example";

    private Assertions() {}

    /** An assertion as Nimbus composes it. */
    static JWTBearerGrant about(String user, Issuer audience) throws Exception {
        return sign(details(user, audience).toJWTClaimsSet(), null);
    }

    /** An ID-JAG, for one client. */
    static JWTBearerGrant idJag(String user, Issuer audience, String client, String scope) throws Exception {
        var claims = new JWTClaimsSet.Builder(details(user, audience).toJWTClaimsSet())
                .claim("client_id", client)
                .claim("scope", scope)
                .build();
        return sign(claims, new JOSEObjectType("oauth-id-jag+jwt"));
    }

    private static JWTAssertionDetails details(String user, Issuer audience) {
        var now = new Date();
        var end = new Date(now.getTime() + 60_000);
        var to = new Audience(audience).toSingleAudienceList();
        return new JWTAssertionDetails(
                new Issuer(ISSUER), new Subject(user), to, end, null, now, new JWTID(), null);
    }

    private static JWTBearerGrant sign(JWTClaimsSet claims, JOSEObjectType type) throws Exception {
        var key = Keys.signing();
        var header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).type(type).build();
        var jwt = new SignedJWT(header, claims);
        jwt.sign(new ECDSASigner(key));
        return new JWTBearerGrant(jwt);
    }
}
