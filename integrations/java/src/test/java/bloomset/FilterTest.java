package bloomset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bloomset.BloomsetException.Code;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilterTest {
    private static List<String> users(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "user" + i).collect(Collectors.toList());
    }

    private static Code codeOf(Runnable call) {
        return assertThrows(BloomsetException.class, call::run).code();
    }

    @Test
    void aFileIsOpened(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("users.bloom");
        Files.write(path, Filter.build(users(0, 1000), Request.of().fpr(1e-6).label("source", "example.org")).toBytes());
        Filter filter = Filter.open(path);
        assertTrue(filter.contains("user7"));
        assertFalse(filter.contains("mallory"));
        assertArrayEquals(new boolean[] {true, false}, filter.containsMany(List.of("user999", "x")));
        assertEquals(Map.of("source", "example.org"), filter.labels());
        assertEquals("blocked_bloom", filter.info().get("kind"));
        assertEquals(Code.UNSUPPORTED, codeOf(() -> filter.add("x")));
        assertThrows(NoSuchFileException.class, () -> Filter.open(folder.resolve("missing")));
        Files.writeString(path, "a text");
        String message = assertThrows(BloomsetException.class, () -> Filter.open(path)).getMessage();
        assertTrue(message.startsWith(path + ": this is not a Bloomset filter"), message);
    }

    @Test
    void anIteratorMayQueryTheFilter() {
        Filter filter = Filter.create(Request.of("bloom").capacity(1000));
        filter.addAll(() -> users(0, 500).stream().filter(key -> !filter.contains(key)).iterator());
        for (String key : users(0, 500)) assertTrue(filter.contains(key), key);
    }

    @Test
    void aRequestIsNotChanged() {
        Request request = Request.of();
        Filter.buildExact(users(0, 10), users(10, 100), request);
        assertEquals("blocked_bloom", Filter.build(users(0, 10), request).info().get("kind"));
    }

    @Test
    void keysOfEveryLength() {
        List<String> keys = new ArrayList<>();
        for (int n : new int[] {0, 1, 40, 1000, Wasm.BATCH_BYTES - 1, Wasm.BATCH_BYTES, Wasm.BATCH_BYTES + 1, 500_000, 5}) {
            keys.add("x".repeat(n));
            keys.add("é".repeat(n / 2));
        }
        keys.addAll(users(0, 10_000));
        Filter filter = Filter.build(keys, Request.of().fpr(1e-6));
        boolean[] expected = new boolean[keys.size()];
        Arrays.fill(expected, true);
        assertArrayEquals(expected, filter.containsMany(keys));
        for (String key : keys.subList(0, 30)) assertTrue(filter.contains(key));
        assertFalse(filter.contains("x".repeat(Wasm.BATCH_BYTES + 2)));
        assertThrows(IllegalArgumentException.class, () -> filter.contains("\ud800"));
    }

    @Test
    void changes() {
        Filter filter = Filter.create(Request.of("vector_quotient").capacity(100));
        assertTrue(filter.add("ann"));
        assertFalse(filter.add("ann"));
        assertEquals(2, filter.count("ann"));
        assertEquals(1, filter.addAll(List.of("ann", "bob")));
        assertTrue(filter.remove("bob"));
        assertEquals(1, filter.removeAll(List.of("ann", "bob")));
        filter.clear();
        assertFalse(filter.contains("ann"));
        Filter copy = Filter.openWritable(filter.toBytes(), null);
        assertTrue(copy.add("cid"));
        assertTrue(copy.contains("cid"));
        assertFalse(filter.contains("cid"));
        Filter small = Filter.create(Request.of("cuckoo").capacity(8));
        BloomsetException full = assertThrows(BloomsetException.class, () -> small.addAll(users(0, 1000)));
        assertEquals(Code.FULL, full.code());
        assertTrue(full.contained() > 7 && full.contained() < 100);
        for (String key : users(0, (int) full.contained())) assertTrue(small.contains(key));
        assertEquals(Code.OUT_OF_MEMORY, codeOf(() -> Filter.create(Request.of().capacity(10_000_000_000L))));
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> Filter.create(Request.of("blom").capacity(10))));
    }

    @Test
    void sets() {
        Request request = Request.of().capacity(2000).fpr(1e-6);
        Filter monday = Filter.build(users(0, 600), request);
        Filter tuesday = Filter.build(users(400, 1000), request);
        Filter both = Filter.build(users(0, 600), request);
        both.intersect(tuesday);
        assertArrayEquals(new boolean[] {false, true, false}, both.containsMany(List.of("user1", "user500", "user999")));
        monday.merge(tuesday);
        assertArrayEquals(new boolean[] {true, true, true}, monday.containsMany(List.of("user1", "user500", "user999")));
        assertEquals(Code.INCOMPATIBLE, codeOf(() -> monday.merge(Filter.create(Request.of("cuckoo").capacity(10)))));
        Filter exact = Filter.buildExact(users(0, 10), users(0, 1000), Request.of());
        boolean[] answers = exact.containsMany(users(0, 1000));
        assertEquals(10, IntStream.range(0, 1000).filter(i -> answers[i]).count());
        Filter loose = Filter.build(users(0, 1000), Request.of().fpr(0.1));
        List<String> mistaken = users(1000, 2000).stream().filter(loose::contains).collect(Collectors.toList());
        assertTrue(mistaken.size() > 50);
        assertEquals(mistaken.size(), loose.addExceptions(mistaken));
        assertFalse(loose.contains(mistaken.get(0)));
        assertEquals(1, loose.removeExceptions(mistaken.subList(0, 1)));
        assertTrue(loose.contains(mistaken.get(0)));
    }

    @Test
    void secretKeys() {
        byte[] key = Filter.newKey();
        byte[] file = Filter.build(users(0, 100), Request.of("fuse").key(key)).toBytes();
        assertTrue(Filter.open(file, key).contains("user7"));
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> Filter.open(file)));
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> Filter.open(file, new byte[16])));
        assertEquals("siphash", Filter.info(file).get("hash"));
        assertThrows(IllegalArgumentException.class, () -> Filter.open(file, new byte[15]));
    }

    @Test
    void labelsOfAnyText() {
        Filter filter = Filter.create(Request.of("bloom").capacity(10).label("note", "a \"quoted\" \\ ë"));
        assertEquals(Map.of("note", "a \"quoted\" \\ ë"), Filter.open(filter.toBytes()).labels());
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> filter.setLabels(Map.of("name", "two\nlines"))));
    }
}
