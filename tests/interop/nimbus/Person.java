import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.util.URLUtils;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** Asks the person with the browser for an errand: to visit a URL and tell where it ended. */
final class Person {
    private static final URI ERRANDS = URI.create(System.getenv("ERRANDS"));
    static final URI CALLBACK = ERRANDS.resolve("/callback");
    static final URI SIGNED_OUT = ERRANDS.resolve("/signed-out");

    private Person() {}

    static URI visit(URI address) throws Exception {
        var errand = new HTTPRequest(HTTPRequest.Method.POST, ERRANDS.resolve("/visit"));
        errand.setBody(URLUtils.serializeParameters(
                Map.of("person", List.of("nimbus"), "url", List.of(address.toString()))));
        errand.setContentType("application/x-www-form-urlencoded");
        var arrived = errand.send();
        arrived.ensureStatusCode(200);
        return URI.create((String) arrived.getBodyAsJSONObject().get("url"));
    }
}
