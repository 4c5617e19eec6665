package bloomset;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A Bloom filter or one of its relatives, in the files of Bloomset's command line, C++, Python and JavaScript, with the same
 * answers.
 *
 * <pre>{@code
 * Filter members = Filter.open(Path.of("members.bloom"));
 * if (members.contains("alice@example.com")) askTheDatabase();   // false is certain
 * }</pre>
 *
 * <p>A key is a string, as its UTF-8, or bytes. {@link #integerKey} has the bytes of whole numbers. What a filter's kind
 * cannot do throws a {@link BloomsetException} with code UNSUPPORTED. Any number of threads may use a filter: calls take turns.
 */
public final class Filter {
    private final Wasm wasm;

    private Filter(Wasm wasm) {
        this.wasm = wasm;
    }

    /** Opens a filter file of any kind, to be queried. */
    public static Filter open(Path path) throws IOException {
        return open(Files.readAllBytes(path), path.toString(), false, null);
    }

    /** The same for a filter that was made with a secret key. */
    public static Filter open(Path path, byte[] key) throws IOException {
        return open(Files.readAllBytes(path), path.toString(), false, key);
    }

    /** Opens the filter in the bytes of a file, to be queried. */
    public static Filter open(byte[] file) {
        return open(file, "the bytes", false, null);
    }

    /** The same for a filter that was made with a secret key. */
    public static Filter open(byte[] file, byte[] key) {
        return open(file, "the bytes", false, key);
    }

    /** Opens the filter in the bytes of a file, in memory where it can be changed. The key is null for filters without one. */
    public static Filter openWritable(byte[] file, byte[] key) {
        return open(file, "the bytes", true, key);
    }

    private static Filter open(byte[] file, String name, boolean writable, byte[] key) {
        Wasm wasm = new Wasm();
        int secret = wasm.putOrNull(Wasm.checkedKey(key));
        int at = wasm.put(file);
        wasm.run(name, "bloomset_open", at, file.length, writable ? 1 : 0, secret);
        if (writable) wasm.free(at);
        wasm.free(secret);
        return new Filter(wasm);
    }

    /** An empty filter, to add keys to. */
    public static Filter create(Request request) {
        Wasm wasm = new Wasm();
        wasm.runWithTexts("bloomset_create", pairs(request.fields), true, request.key);
        return new Filter(wasm).labelled(request);
    }

    /** A filter of these keys, planned for their number unless the request has a capacity or a size. */
    public static Filter build(Iterable<String> keys, Request request) {
        return buildOfBytes(encoded(keys), null, request);
    }

    /** A filter of kind exact, without errors among members and others. */
    public static Filter buildExact(Iterable<String> members, Iterable<String> others, Request request) {
        return buildOfBytes(encoded(members), encoded(others), request.copy().option("kind", "exact"));
    }

    /** A filter of keys that are bytes. */
    public static Filter buildOfBytes(Iterable<byte[]> keys, Request request) {
        return buildOfBytes(keys, null, request);
    }

    private static Filter buildOfBytes(Iterable<byte[]> members, Iterable<byte[]> others, Request request) {
        Wasm wasm = new Wasm();
        wasm.runWithTexts("bloomset_begin_build", pairs(request.fields), true, request.key);
        wasm.batches(members.iterator(), (bytes, ends, count) -> wasm.run("", "bloomset_collect", bytes, ends, count, 0));
        if (others != null) {
            wasm.batches(others.iterator(), (bytes, ends, count) -> wasm.run("", "bloomset_collect", bytes, ends, count, 1));
        }
        wasm.run("", "bloomset_end_build");
        return new Filter(wasm).labelled(request);
    }

    private Filter labelled(Request request) {
        if (!request.labels.isEmpty()) setLabels(request.labels);
        return this;
    }

    private static List<String> pairs(Map<String, String> values) {
        List<String> texts = new ArrayList<>();
        values.forEach((name, value) -> {
            texts.add(name);
            texts.add(value);
        });
        return texts;
    }

    private static <T> Iterable<byte[]> mapped(Iterable<T> keys, Function<T, byte[]> bytes) {
        return () -> {
            Iterator<T> from = keys.iterator();
            return new Iterator<byte[]>() {
                @Override
                public boolean hasNext() {
                    return from.hasNext();
                }

                @Override
                public byte[] next() {
                    return bytes.apply(from.next());
                }
            };
        };
    }

    private static Iterable<byte[]> encoded(Iterable<String> keys) {
        return mapped(keys, Filter::encoded);
    }

    private static byte[] encoded(String key) {
        for (int i = 0; i < key.length(); ++i) {
            if (!Character.isSurrogate(key.charAt(i))) continue;
            if (!StandardCharsets.UTF_8.newEncoder().canEncode(key)) {
                throw new IllegalArgumentException(
                        "a string with half a surrogate pair is not a key, because it has no UTF-8; give bytes");
            }
            break;
        }
        return key.getBytes(StandardCharsets.UTF_8);
    }

    /** The key of a whole number, in every program with Bloomset: its eight little-endian bytes. */
    public static byte[] integerKey(long number) {
        return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
    }

    /** A secret key of 16 random bytes. */
    public static byte[] newKey() {
        byte[] key = new byte[16];
        new SecureRandom().nextBytes(key);
        return key;
    }

    /** Whether the key may be a member. False is certain, except for keys without an answer: see {@link #covers(String)}. */
    public boolean contains(String key) {
        return contains(encoded(key));
    }

    /** Whether the key may be a member. False is certain, except for keys without an answer: see {@link #covers(byte[])}. */
    public synchronized boolean contains(byte[] key) {
        return wasm.mayContain(key);
    }

    /** The answers for many keys, which is faster. */
    public boolean[] containsMany(Collection<String> keys) {
        return answers("bloomset_may_contain_many", encoded(keys), keys.size());
    }

    /** The answers for many keys that are bytes. */
    public boolean[] containsManyBytes(Collection<byte[]> keys) {
        return answers("bloomset_may_contain_many", keys, keys.size());
    }

    /**
     * Whether the filter has an answer for the key. False only in a filter of kind exact with partitions, for a key whose
     * partition it does not have: the bytes of the key before its first tab. {@link #contains(String)} is then false and means
     * nothing.
     */
    public boolean covers(String key) {
        return covers(encoded(key));
    }

    /** The same for a key that is bytes. */
    public boolean covers(byte[] key) {
        return answers("bloomset_covers_many", List.of(key), 1)[0];
    }

    /** Whether the filter has an answer, for many keys. */
    public boolean[] coversMany(Collection<String> keys) {
        return answers("bloomset_covers_many", encoded(keys), keys.size());
    }

    /** The same for many keys that are bytes. */
    public boolean[] coversManyBytes(Collection<byte[]> keys) {
        return answers("bloomset_covers_many", keys, keys.size());
    }

    // The answers of a call that writes a byte for each key.
    private synchronized boolean[] answers(String call, Iterable<byte[]> keys, int size) {
        boolean[] all = new boolean[size];
        int[] done = {0};
        wasm.batches(keys.iterator(), (bytes, ends, count) -> {
            wasm.call(call, bytes, ends, count, wasm.answersAt);
            for (byte answer : wasm.memory().readBytes(wasm.answersAt, count)) all[done[0]++] = answer != 0;
        });
        return all;
    }

    /** The key's hash of 64 bits with the filter's hash function and seed. */
    public synchronized long hash(byte[] key) {
        int at = wasm.put(key);
        try {
            return wasm.call("bloomset_hash", at, key.length);
        } finally {
            wasm.free(at);
        }
    }

    private synchronized long change(String name, Iterable<byte[]> keys) {
        long[] changed = {0};
        long[] done = {0};
        wasm.batches(keys.iterator(), (bytes, ends, count) -> {
            try {
                wasm.run("", name, bytes, ends, count);
            } catch (BloomsetException failure) {
                if (failure.code() == BloomsetException.Code.FULL) failure.setContained(done[0] + wasm.call("bloomset_number"));
                throw failure;
            }
            changed[0] += wasm.call("bloomset_number");
            done[0] += count;
        });
        return changed[0];
    }

    /** Adds a key; true if it certainly was not there before. */
    public boolean add(String key) {
        return change("bloomset_insert", encoded(List.of(key))) != 0;
    }

    /** Adds many keys; returns how many were certainly new. Code FULL: those before the one without room are in the filter. */
    public long addAll(Iterable<String> keys) {
        return change("bloomset_insert", encoded(keys));
    }

    /** Takes back one add of a key; false if it certainly is not a member. Remove only keys that were added. */
    public boolean remove(String key) {
        return change("bloomset_erase", encoded(List.of(key))) != 0;
    }

    /** Removes many keys; returns how many were there. */
    public long removeAll(Iterable<String> keys) {
        return change("bloomset_erase", encoded(keys));
    }

    /** How often the key was added and not removed: never too low, up to what the kind can count. */
    public synchronized long count(String key) {
        wasm.batches(encoded(List.of(key)).iterator(),
                (bytes, ends, count) -> wasm.run("", "bloomset_count", bytes, ends, count, wasm.answersAt));
        return wasm.memory().readLong(wasm.answersAt);
    }

    /** Makes the answer "no" for keys that are not members but pass as members; returns how many are new exceptions. */
    public long addExceptions(Iterable<String> keys) {
        return change("bloomset_add_exceptions", encoded(keys));
    }

    /** Ends the exceptions of these keys; returns how many were exceptions. */
    public long removeExceptions(Iterable<String> keys) {
        return change("bloomset_remove_exceptions", encoded(keys));
    }

    /** Removes all keys. The plan stays. */
    public synchronized void clear() {
        wasm.run("", "bloomset_clear");
    }

    /** Makes the filter the union with another one without a secret key. */
    public void merge(Filter other) {
        combine("bloomset_merge", other.toBytes(), null);
    }

    /** The same for filters with a secret key. */
    public void merge(Filter other, byte[] key) {
        combine("bloomset_merge", other.toBytes(), key);
    }

    /** Keeps the keys that both filters may contain. */
    public void intersect(Filter other) {
        combine("bloomset_intersect", other.toBytes(), null);
    }

    private synchronized void combine(String name, byte[] file, byte[] key) {
        byte[] checked = Wasm.checkedKey(key);
        int at = wasm.put(file);
        int secret = wasm.putOrNull(checked);
        try {
            wasm.run("the other filter", name, at, file.length, secret);
        } finally {
            wasm.free(at);
            wasm.free(secret);
        }
    }

    /** Replaces the labels, which go into the file and change no answer. */
    public synchronized void setLabels(Map<String, String> labels) {
        wasm.runWithTexts("bloomset_set_labels", pairs(labels), false, null);
    }

    /** The labels: facts that the file carries, such as the source of its keys. */
    @SuppressWarnings("unchecked")
    public Map<String, String> labels() {
        return (Map<String, String>) info().get("labels");
    }

    /** The figures of the filter, with the names of {@code bloomset info --json}. Reads all bits. */
    public synchronized Map<String, Object> info() {
        wasm.run("", "bloomset_info");
        return Json.object(wasm.text());
    }

    /** The figures of the filter in the bytes of a file, which needs no secret key. */
    public static Map<String, Object> info(byte[] file) {
        Wasm wasm = new Wasm();
        wasm.run("the bytes", "bloomset_file_info", wasm.put(file), file.length);
        return Json.object(wasm.text());
    }

    /** The bytes of the filter's file. */
    public synchronized byte[] toBytes() {
        wasm.run("", "bloomset_to_bytes");
        byte[] file = wasm.answer();
        wasm.call("bloomset_forget_answer");
        return file;
    }
}
