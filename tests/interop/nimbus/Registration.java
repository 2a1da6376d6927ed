import com.nimbusds.oauth2.sdk.GrantType;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.client.ClientDeleteRequest;
import com.nimbusds.oauth2.sdk.client.ClientInformation;
import com.nimbusds.oauth2.sdk.client.ClientReadRequest;
import com.nimbusds.oauth2.sdk.client.ClientRegistrationResponse;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformation;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformationResponse;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationRequest;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationResponseParser;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientUpdateRequest;
import java.util.Set;

/** A client that registers itself, looks after its registration, and ends it (RFC 7591, RFC 7592). */
final class Registration {
    private static final BearerAccessToken INITIAL = new BearerAccessToken("interop-initial-access-token");

    private final OIDCProviderMetadata provider;

    Registration(OIDCProviderMetadata provider) {
        this.provider = provider;
    }

    static OIDCClientMetadata metadata(String name) {
        var metadata = new OIDCClientMetadata();
        metadata.setName(name);
        metadata.setRedirectionURI(Person.CALLBACK);
        metadata.setPostLogoutRedirectionURIs(Set.of(Person.SIGNED_OUT));
        metadata.setGrantTypes(Set.of(GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN));
        return metadata;
    }

    OIDCClientInformation register(OIDCClientMetadata metadata) throws Exception {
        return known(new OIDCClientRegistrationRequest(provider.getRegistrationEndpointURI(), metadata, INITIAL)
                .toHTTPRequest());
    }

    OIDCClientInformation read(ClientInformation client) throws Exception {
        return known(new ClientReadRequest(client.getRegistrationURI(), client.getRegistrationAccessToken())
                .toHTTPRequest());
    }

    OIDCClientInformation update(ClientInformation client, OIDCClientMetadata metadata) throws Exception {
        return known(new OIDCClientUpdateRequest(
                client.getRegistrationURI(), client.getID(), client.getRegistrationAccessToken(), metadata,
                client.getSecret()).toHTTPRequest());
    }

    void delete(ClientInformation client) throws Exception {
        new ClientDeleteRequest(client.getRegistrationURI(), client.getRegistrationAccessToken())
                .toHTTPRequest().send().ensureStatusCode(204);
    }

    Application application(ClientInformation client) {
        return new Application(provider, client.getID(), () -> new ClientSecretBasic(client.getID(), client.getSecret()));
    }

    private static OIDCClientInformation known(HTTPRequest request) throws Exception {
        ClientRegistrationResponse answer = OIDCClientRegistrationResponseParser.parse(request.send());
        if (!answer.indicatesSuccess()) throw new Application.Refused(answer.toErrorResponse().getErrorObject());
        return ((OIDCClientInformationResponse) answer).getOIDCClientInformation();
    }
}
