import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.ciba.AuthRequestID;
import com.nimbusds.oauth2.sdk.ciba.CIBAGrant;
import com.nimbusds.oauth2.sdk.ciba.CIBARequest;
import com.nimbusds.oauth2.sdk.ciba.CIBAResponse;
import com.nimbusds.oauth2.sdk.id.Audience;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.JWTID;
import com.nimbusds.oauth2.sdk.ciba.CIBASignedRequestClaimsSet;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.net.URI;
import java.util.Date;

/** Authentication that the person confirms elsewhere (CIBA Core). */
final class Backchannel {
    private final OIDCProviderMetadata provider;
    private final ClientSecretPost credentials;

    Backchannel(OIDCProviderMetadata provider, ClientID client) {
        this.provider = provider;
        credentials = new ClientSecretPost(client, new Secret("till-secret"));
    }

    /** Asks for a person by name. */
    CIBARequest of(String person) {
        return new CIBARequest.Builder(credentials, new Scope("openid", "api1"))
                .loginHint(person)
                .bindingMessage("receipt 4711")
                .endpointURI(provider.getBackChannelAuthenticationEndpointURI())
                .build();
    }

    /** The same by a client that gets a ping with this token when the request is over (section 7.1). */
    CIBARequest pinged(CIBARequest request, BearerAccessToken token) {
        return new CIBARequest.Builder(request).clientNotificationToken(token).build();
    }

    /** The same in a JWT that the client signs (section 7.1.1). */
    CIBARequest signed(CIBARequest request) throws Exception {
        var now = new Date();
        var claims = new CIBASignedRequestClaimsSet(
                request,
                new Issuer(credentials.getClientID()),
                new Audience(provider.getIssuer()),
                now,
                now,
                new Date(now.getTime() + 60_000),
                new JWTID());
        var key = Keys.signing();
        var header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build();
        var jwt = new SignedJWT(header, claims.toJWTClaimsSet());
        jwt.sign(new ECDSASigner(key));
        return new CIBARequest(request.getEndpointURI(), credentials, jwt);
    }

    AuthRequestID begin(CIBARequest request) throws Exception {
        var response = CIBAResponse.parse(request.toHTTPRequest().send());
        if (!response.indicatesSuccess()) throw new Application.Refused(response.toErrorResponse().getErrorObject());
        return response.toRequestAcknowledgement().getAuthRequestID();
    }

    void confirm(AuthRequestID id) throws Exception {
        Person.visit(URI.create(provider.getIssuer() + "/account/requests/" + id.getValue().substring(3, 19)));
    }

    OIDCTokenResponse poll(AuthRequestID id) throws Exception {
        var request = new TokenRequest.Builder(provider.getTokenEndpointURI(), credentials, new CIBAGrant(id)).build();
        var response = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
        if (!response.indicatesSuccess()) throw new Application.Refused(response.toErrorResponse().getErrorObject());
        return (OIDCTokenResponse) response.toSuccessResponse();
    }
}
