package bloomset;

import bloomset.BloomsetException.Code;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.ChicoryException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** An instance of the module, which has one filter: memory for arguments, calls, and answers. For one thread at a time. */
final class Wasm {
    static final int BATCH_KEYS = 4096;
    static final int BATCH_BYTES = 1 << 17;
    private static final String NO_MEMORY = "there is not enough memory for this filter; use a smaller one, or the command line";

    /** Passes a batch on: addresses of bytes and of their ends, their number, and the index of the first. */
    interface Batch {
        void pass(int bytes, int ends, int count);
    }

    private final Map<String, ExportFunction> functions = new HashMap<>();
    private final Instance instance;
    private final Memory memory;
    private final ExportFunction mayContain;
    private final int keysAt;
    private final int endsAt;
    final int answersAt;
    private BloomsetException ended;

    Wasm() {
        instance = Instance.builder(CompiledModule.load()).withMachineFactory(CompiledModule::create).build();
        memory = instance.memory();
        mayContain = instance.export("bloomset_may_contain");
        instance.export("_initialize").apply();
        keysAt = alloc(BATCH_BYTES);
        endsAt = alloc(4 * BATCH_KEYS);
        answersAt = alloc(8 * BATCH_KEYS);
    }

    Memory memory() {
        return memory;
    }

    /** Calls a function. A trap ends the instance: every later call fails. */
    long call(String name, long... values) {
        if (ended != null) throw ended;
        try {
            long[] results = functions.computeIfAbsent(name, instance::export).apply(values);
            return results == null || results.length == 0 ? 0 : results[0];
        } catch (ChicoryException | OutOfMemoryError | StackOverflowError cause) {
            ended = new BloomsetException(Code.OUT_OF_MEMORY,
                    isOutOfMemory() ? NO_MEMORY : "the module ended: " + cause.getMessage() + "; open the filter again");
            ended.initCause(cause);
            throw ended;
        }
    }

    private boolean isOutOfMemory() {
        try {
            return instance.export("bloomset_is_out_of_memory").apply()[0] != 0;
        } catch (ChicoryException | OutOfMemoryError e) {
            return true;
        }
    }

    /** A call with a status. The source's name replaces "the bytes" in the sentence of a failure. */
    void run(String source, String name, long... values) {
        int status = (int) call(name, values);
        if (status == 0) return;
        String sentence = text();
        if (sentence.startsWith("the bytes: ")) sentence = source + sentence.substring(9);
        throw new BloomsetException(Code.values()[status - 1], sentence);
    }

    /** A copy of the last answer. */
    byte[] answer() {
        int at = (int) call("bloomset_answer");
        return memory.readBytes(at, (int) call("bloomset_answer_size"));
    }

    String text() {
        return new String(answer(), StandardCharsets.UTF_8);
    }

    int alloc(int size) {
        int at = (int) call("bloomset_alloc", size);
        if (at == 0) throw new BloomsetException(Code.OUT_OF_MEMORY, NO_MEMORY);
        return at;
    }

    int put(byte[] bytes) {
        int at = alloc(bytes.length);
        memory.write(at, bytes);
        return at;
    }

    void free(int at) {
        if (at != 0 && ended == null) call("bloomset_free", at);
    }

    /** Memory with these bytes, or 0 for null. */
    int putOrNull(byte[] bytes) {
        return bytes == null ? 0 : put(bytes);
    }

    boolean mayContain(byte[] key) {
        if (ended != null) throw ended;
        int at = key.length <= BATCH_BYTES ? keysAt : alloc(key.length);
        memory.write(at, key);
        boolean answer = mayContain.apply(at, key.length)[0] != 0;
        if (at != keysAt) free(at);
        return answer;
    }

    /**
     * Passes byte strings on in batches. The iterator may use this instance, so a batch is written to its memory only when it
     * is whole.
     */
    void batches(Iterator<byte[]> keys, Batch use) {
        List<byte[]> batch = new ArrayList<>();
        int used = 0;
        while (keys.hasNext()) {
            byte[] key = keys.next();
            if (batch.size() == BATCH_KEYS || used + key.length > BATCH_BYTES) {
                pass(batch, use);
                batch.clear();
                used = 0;
            }
            batch.add(key);
            used += key.length;
        }
        pass(batch, use);
    }

    private void pass(List<byte[]> batch, Batch use) {
        if (batch.isEmpty()) return;
        byte[] first = batch.get(0);
        int at = first.length <= BATCH_BYTES ? keysAt : alloc(first.length); // longer than a whole batch: alone in it
        int end = 0;
        for (int i = 0; i < batch.size(); ++i) {
            byte[] key = batch.get(i);
            memory.write(at + end, key);
            end += key.length;
            memory.writeI32(endsAt + 4 * i, end);
        }
        use.pass(at, endsAt, batch.size());
        if (at != keysAt) free(at);
    }

    /** Passes names and values on in one call, with a secret key or null as the last value if `hasKey`. */
    void runWithTexts(String name, List<String> texts, boolean hasKey, byte[] key) {
        int size = 0;
        int[] ends = new int[texts.size()];
        byte[][] parts = new byte[texts.size()][];
        for (int i = 0; i < parts.length; ++i) {
            parts[i] = texts.get(i).getBytes(StandardCharsets.UTF_8);
            ends[i] = size += parts[i].length;
        }
        int at = alloc(size);
        int to = alloc(4 * parts.length);
        int secret = putOrNull(key);
        try {
            for (int i = 0; i < parts.length; ++i) {
                memory.write(at + ends[i] - parts[i].length, parts[i]);
                memory.writeI32(to + 4 * i, ends[i]);
            }
            if (hasKey) {
                run("", name, at, to, parts.length, secret);
            } else {
                run("", name, at, to, parts.length);
            }
        } finally {
            free(at);
            free(to);
            free(secret);
        }
    }

    static byte[] checkedKey(byte[] key) {
        if (key == null || key.length == 16) return key;
        throw new IllegalArgumentException("a secret key has 16 bytes, not " + key.length + "; Filter.newKey() makes one");
    }
}
