import com.nimbusds.oauth2.sdk.ciba.CIBAPingCallback;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The notification endpoint of a client in ping mode (CIBA Core section 10.2): it answers the first ping with 503. */
final class Pings implements AutoCloseable {
    private static final URI ADDRESS = URI.create(System.getenv("PINGED"));
    private final LinkedBlockingQueue<HTTPRequest> came = new LinkedBlockingQueue<>();
    private final HttpServer server;
    private int status = 503;

    Pings() throws IOException {
        server = HttpServer.create(new InetSocketAddress("localhost", ADDRESS.getPort()), 0);
        server.createContext("/pinged", this::take);
        server.start();
    }

    private void take(HttpExchange exchange) throws IOException {
        var request = new HTTPRequest(HTTPRequest.Method.valueOf(exchange.getRequestMethod()), ADDRESS);
        exchange.getRequestHeaders().forEach((name, values) -> request.setHeader(name, values.toArray(String[]::new)));
        request.setBody(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
        status = 204;
        came.add(request);
    }

    /** The next one, as the library reads it. */
    CIBAPingCallback next() throws Exception {
        var request = came.poll(60, TimeUnit.SECONDS);
        if (request == null) throw new AssertionError("no ping");
        return CIBAPingCallback.parse(request);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
