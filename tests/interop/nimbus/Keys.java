import com.nimbusds.jose.jwk.ECKey;
import java.nio.file.Files;
import java.nio.file.Path;

/** The private keys that the clients of this run share. */
final class Keys {
    private Keys() {}

    static ECKey signing() throws Exception {
        return read("signing-key.json");
    }

    static ECKey encryption() throws Exception {
        return read("encryption-key.json");
    }

    private static ECKey read(String file) throws Exception {
        return ECKey.parse(Files.readString(Path.of(System.getenv("WORKPLACE"), file)));
    }
}
