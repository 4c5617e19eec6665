package bloomset;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Describes a filter that is to be made. Two of capacity, rate and size give the third. The default rate is 1%.
 *
 * <pre>{@code Request.of("ribbon").fpr("0.1%").label("source", "example.org")}</pre>
 */
public final class Request {
    final Map<String, String> fields = new LinkedHashMap<>();
    final Map<String, String> labels = new LinkedHashMap<>();
    byte[] key;

    private Request() {}

    /** A request that can be changed without changing this one. */
    Request copy() {
        Request same = new Request();
        same.fields.putAll(fields);
        same.labels.putAll(labels);
        same.key = key;
        return same;
    }

    /** A request for the default kind, blocked_bloom. */
    public static Request of() {
        return new Request();
    }

    /** A request for a kind: "bloom", "ribbon", and so on. */
    public static Request of(String kind) {
        return new Request().option("kind", kind);
    }

    /** The number of keys to plan for. */
    public Request capacity(long keys) {
        return option("capacity", Long.toString(keys));
    }

    /** The rate of false positives at capacity. */
    public Request fpr(double rate) {
        return option("fpr", Double.toString(rate).replace('E', 'e'));
    }

    /** The same as text: "1%", "1/1000". */
    public Request fpr(String rate) {
        return option("fpr", rate);
    }

    /** The size in bytes. */
    public Request memory(long bytes) {
        return option("memory", Long.toString(bytes));
    }

    /** Makes filters differ. It is an unsigned number, and not a secret. */
    public Request seed(long seed) {
        return option("seed", Long.toUnsignedString(seed));
    }

    /** A secret key of 16 bytes. Only those who know it can choose keys that pass as members. */
    public Request key(byte[] secret) {
        key = Wasm.checkedKey(secret);
        return this;
    }

    /** An option of the kind, or another field: "bits", "hashes", "hash". */
    public Request option(String name, String value) {
        fields.put(name, value);
        return this;
    }

    /** A fact that goes into the file, such as the source of the keys. */
    public Request label(String name, String value) {
        labels.put(name, value);
        return this;
    }
}
