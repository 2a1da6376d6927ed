import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.PKITLSClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.X509CertificateConfirmation;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** A client's certificate, and connections that show it (RFC 8705). */
record MutualTls(X509Certificate certificate, SSLSocketFactory showing, SSLSocketFactory anonymous) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    static MutualTls of(ClientID id) throws Exception {
        var own = KeyStore.getInstance("PKCS12");
        try (InputStream file = open(id + ".p12")) {
            own.load(file, PASSWORD);
        }
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD);
        var certificate = (X509Certificate) own.getCertificate("own");
        return new MutualTls(certificate, connecting(keys.getKeyManagers()), connecting(null));
    }

    /** The provider with its endpoints for clients that show certificates (section 5). */
    static OIDCProviderMetadata aliased(OIDCProviderMetadata provider) throws Exception {
        var aliased = OIDCProviderMetadata.parse(provider.toJSONObject());
        var aliases = provider.getReadOnlyMtlsEndpointAliases();
        aliased.setTokenEndpointURI(aliases.getTokenEndpointURI());
        aliased.setUserInfoEndpointURI(aliases.getUserInfoEndpointURI());
        aliased.setIntrospectionEndpointURI(aliases.getIntrospectionEndpointURI());
        aliased.setRevocationEndpointURI(aliases.getRevocationEndpointURI());
        return aliased;
    }

    Supplier<ClientAuthentication> authentication(ClientID id) {
        return () -> new PKITLSClientAuthentication(id, showing);
    }

    /** Whether a token says that it is bound to the certificate (section 3.1). */
    boolean isNamedIn(AccessToken token) throws Exception {
        var claims = SignedJWT.parse(token.getValue()).getJWTClaimsSet();
        return X509CertificateConfirmation.of(certificate).equals(X509CertificateConfirmation.parse(claims));
    }

    private static SSLSocketFactory connecting(KeyManager[] keys) throws Exception {
        var known = KeyStore.getInstance(KeyStore.getDefaultType());
        known.load(null, null);
        try (InputStream file = open("server.pem")) {
            known.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        var context = SSLContext.getInstance("TLS");
        context.init(keys, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    private static InputStream open(String file) throws Exception {
        return Files.newInputStream(Path.of(System.getenv("WORKPLACE"), file));
    }
}
