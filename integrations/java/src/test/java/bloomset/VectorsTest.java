package bloomset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bloomset.BloomsetException.Code;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The vectors that all languages share (tests/languages/vectors.json). */
class VectorsTest {
    private final Map<String, Object> vectors;
    private final List<byte[]> keys;
    private final byte[] secret;

    VectorsTest() throws Exception {
        vectors = Json.object(Files.readString(Path.of(System.getenv("BLOOMSET_VECTORS"))));
        keys = keys("keys");
        secret = bytes((String) vectors.get("secret"));
    }

    private List<byte[]> keys(String name) {
        return VectorsTest.<String>list(vectors.get(name)).stream().map(VectorsTest::bytes).collect(Collectors.toList());
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> list(Object value) {
        return (List<T>) value;
    }

    private static byte[] bytes(String digits) {
        byte[] all = new byte[digits.length() / 2];
        for (int i = 0; i < all.length; ++i) all[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return all;
    }

    private static byte[] contents(Map<String, Object> row) {
        return Base64.getDecoder().decode((String) row.get("bytes"));
    }

    private static String text(boolean[] answers) {
        StringBuilder all = new StringBuilder();
        for (boolean answer : answers) all.append(answer ? '1' : '0');
        return all.toString();
    }

    private static String text(List<byte[]> keys, Predicate<byte[]> answer) {
        return keys.stream().map(key -> answer.test(key) ? "1" : "0").collect(Collectors.joining());
    }

    @TestFactory
    Stream<DynamicTest> filters() {
        return filters("filters", keys);
    }

    @TestFactory
    Stream<DynamicTest> filtersWithPartitions() {
        return filters("filters_with_partitions", keys("keys_in_partitions"));
    }

    private Stream<DynamicTest> filters(String name, List<byte[]> keys) {
        return VectorsTest.<Map<String, Object>>list(vectors.get(name)).stream()
                .map(row -> DynamicTest.dynamicTest((String) row.get("name"), () -> answersAreThoseOfTheCommandLine(row, keys)));
    }

    private void answersAreThoseOfTheCommandLine(Map<String, Object> row, List<byte[]> keys) {
        byte[] file = contents(row);
        byte[] key = null;
        if ((Boolean) row.get("secret")) {
            key = secret;
            assertEquals(Code.INVALID_ARGUMENT, assertThrows(BloomsetException.class, () -> Filter.open(file)).code());
        }
        for (Filter filter : List.of(Filter.open(file, key), Filter.openWritable(file, key))) {
            String answers = (String) row.get("answers");
            String members = answers.replace('?', '0');
            String covered = answers.replace('0', '1').replace('?', '0');
            assertEquals(members, text(filter.containsManyBytes(keys)));
            assertEquals(covered, text(filter.coversManyBytes(keys)));
            assertEquals(members, text(keys, filter::contains));
            assertEquals(covered, text(keys, filter::covers));
            assertArrayEquals(file, filter.toBytes());
        }
        Map<String, Object> info = Filter.info(file);
        for (String name : List.of("kind", "capacity", "count", "hash", "labels")) assertEquals(row.get(name), info.get(name), name);
        assertEquals(row.get("seed"), info.get("seed").toString());
    }

    @Test
    void hashes() {
        Filter filter = Filter.create(Request.of("bloom").capacity(10));
        List<String> hashes = keys.stream().map(key -> Long.toUnsignedString(filter.hash(key))).collect(Collectors.toList());
        assertEquals(((Map<?, ?>) vectors.get("hashes")).get("values"), hashes);
    }

    @TestFactory
    Stream<DynamicTest> files() {
        Map<?, ?> built = (Map<?, ?>) vectors.get("built_keys");
        long count = (Long) built.get("count");
        List<String> builtKeys = new ArrayList<>();
        for (long i = 0; i < count * (Long) built.get("times"); ++i) builtKeys.add((String) built.get("prefix") + i % count);
        return VectorsTest.<Map<String, Object>>list(vectors.get("builds")).stream().map(row -> {
            Map<?, ?> fields = (Map<?, ?>) row.get("request");
            return DynamicTest.dynamicTest(fields.toString(), () -> {
                Request request = Request.of();
                fields.forEach((name, value) -> request.option((String) name, value.toString().replace('E', 'e')));
                byte[] file = Filter.build(builtKeys, request).toBytes();
                assertEquals(row.get("size"), (long) file.length);
                StringBuilder digits = new StringBuilder();
                for (byte each : MessageDigest.getInstance("SHA-256").digest(file)) digits.append(String.format("%02x", each));
                assertEquals(row.get("sha256"), digits.toString());
            });
        });
    }

    @Test
    void damagedFilesAreRefused() {
        for (Map<String, Object> row : VectorsTest.<Map<String, Object>>list(vectors.get("refused"))) {
            String message = assertThrows(BloomsetException.class, () -> Filter.open(contents(row))).getMessage();
            assertTrue(message.matches("(?s)the bytes: .{20,}; .{10,}"), message);
        }
    }
}
