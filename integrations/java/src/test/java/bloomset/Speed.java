package bloomset;

import java.util.ArrayList;
import java.util.List;

/** Prints the time per key of a million keys such as user7@example.com, half of them members: best of ten rounds. */
final class Speed {
    private static int found; // so that no answer goes unused

    public static void main(String[] arguments) {
        long begin = System.nanoTime();
        Filter.create(Request.of().capacity(1));
        System.out.printf("first filter: %d ms%n", (System.nanoTime() - begin) / 1_000_000);
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 1_000_000; ++i) keys.add("user" + i + "@example.com");
        Filter filter = Filter.build(keys.subList(0, keys.size() / 2), Request.of());
        double single = Double.MAX_VALUE;
        double batch = Double.MAX_VALUE;
        for (int round = 0; round < 10; ++round) {
            begin = System.nanoTime();
            for (String key : keys) found += filter.contains(key) ? 1 : 0;
            single = Math.min(single, (System.nanoTime() - begin) / (double) keys.size());
            begin = System.nanoTime();
            found += filter.containsMany(keys).length;
            batch = Math.min(batch, (System.nanoTime() - begin) / (double) keys.size());
        }
        System.out.printf("contains: %.0f ns, containsMany: %.0f ns%n", single, batch);
    }
}
