"""The project's goals, each from the figures of a results file."""

from drawing import count, figure, size_of, table, times
from records import best, built, query, ratio


def goals(results, _charts):
    """The project's goals, each from figures of this run. Sizes other than those that a goal names
    stand in where a run has no larger ones, and the table says so. A goal that was not measured is
    left out."""
    rows = []

    def goal(text, measured, met):
        if met is not None:
            rows.append([text, measured, "yes" if met else "**no**"])

    def at_most(text, value, limit, unit="x", note=""):
        shown = times(value) if unit == "x" else f"{figure(value, 4)} {unit}"
        goal(text, shown + note, None if value is None else value <= limit)

    sizes = results.sizes()
    small, large = sizes[:2], sizes[-1] if sizes else 0
    big = f"{count(large)} keys"
    row = lambda name, n, fpr=0.01: results.one("filter", name=name, n=n, fpr=fpr)
    blocked = row("blocked_bloom", large)
    boost_name = "Boost.Bloom fast_multiblock64<8>"
    native = ", for this CPU"

    if blocked:
        at_most("blocked, 1%: bits/key ≤ 10.12", blocked["bits_per_key"], 10.12, "bits/key",
                f" ({big})")
        goal("blocked, 1%: measured rate ≤ 1.000%",
             f"{100 * blocked['rate']:.4f}% ± {100 * blocked['rate_error']:.4f}% ({big})",
             blocked["rate"] <= 0.01)
    batch_rows = {r["name"]: {c["size"]: c["ns"] for c in r["sizes"]}
                  for r in results.all("batches")}
    limit = best(c["ns"] for r in results.all("batches", group="limit") for c in r["sizes"])
    ours = batch_rows.get("blocked_bloom", {})
    n = results.all("batches")[0]["n"] if batch_rows else 0
    middle = [s for s in ours if 256 <= s <= 4096]
    worst = max((ours[s] for s in middle), default=None)
    at_most(f"batches of 256 to 4096, {count(n)}: ≤ 1.25x of the best line limit",
            ratio(worst, limit), 1.25)
    boosts = [batch_rows[b] for b in (boost_name, boost_name + native) if b in batch_rows]
    at_most("  and ≤ 0.65x of Boost's time on its defaults",
            max((ratio(ours[s], best(b[s] for b in boosts)) for s in middle), default=None)
            if boosts else None, 0.65)
    partitioned = max((ours[s] for s in ours if s >= 1 << 20), default=None)
    at_most(f"batches of 1 M and more, {count(n)}: ≤ 0.9x of that limit",
            ratio(partitioned, limit), 0.9)
    for n in small:
        peers = [row(boost_name, n), row(boost_name + native, n)]
        # The largest of the three ratios.
        each = [ratio(query(row("blocked_bloom", n), "batch", p),
                      best(query(b, "batch", p) for b in peers)) for p in (0, 50, 100)]
        at_most(f"batch query, {count(n)} keys: ≤ 0.7x of Boost fast_multiblock64<8>",
                max(each) if None not in each else None, 0.7)
    for n in sizes[1:]:
        for suffix, what in (("", ""), (native, ", both for this CPU")):
            values = [ratio(query(row("blocked_bloom" + suffix, n), "single", p),
                            query(row(boost_name + suffix, n), "single", p)) for p in (0, 50, 100)]
            at_most(f"single query, {count(n)} keys: ≤ 1x of Boost's{what}",
                    max(values) if None not in values else None, 1.0)
    at_most(f"bulk build, {big}, 1 thread: ≤ 0.5x of Boost's",
            ratio(built(blocked), best(built(row(b, large))
                                       for b in (boost_name, boost_name + native))), 0.5)
    for n in sizes[1:]:
        boost = best(built(row(b, n)) for b in (boost_name, boost_name + native))
        at_most(f"  {count(n)} keys that are known to differ: ≤ 0.9x",
                ratio(built(row("blocked_bloom, distinct keys", n)), boost), 0.9)
    speedup = ratio(built(blocked), built(blocked, 2))
    goal("  2 threads ≥ 1.8x of 1", times(speedup), None if speedup is None else speedup >= 1.8)

    file_rows = {r["name"]: r["ns"] for r in results.all("file")}
    lines_read = results.all("file")[0]["lines"] if file_rows else 0
    build = file_rows.get("bloomset build, capacity given")
    dcso = ratio(file_rows.get("DCSO bloom insert, capacity given"), build)
    goal(f"`bloomset build` of {count(lines_read)} lines: ≥ 8x the DCSO CLI", times(dcso),
         None if dcso is None else dcso >= 8)
    share = ratio(file_rows.get("reading and hashing lines, all cores"), build)
    goal("  ≥ 60% of the speed of reading and hashing alone",
         "–" if share is None else f"{100 * share:.0f}%", None if share is None else share >= 0.6)
    if b := results.one("billion"):
        at = f"{count(b['n'])} addresses, 8 bits each: "
        goal(at + "measured rate ≤ 2.3%", f"{100 * b['rate']:.3f}%", b["rate"] <= 0.023)
        goal("  whole run ≤ 90 s", f"{b['seconds']:.1f} s", b["seconds"] <= 90)
        goal("  peak memory ≤ 1.1 GB", size_of(b["peak"]), b["peak"] <= 1.1e9)
    static_goals(results, row, large, goal, at_most)
    checkout_goals(row, sizes, at_most)
    if startup := results.one("startup"):
        goal(f"`bloomset check` of one key, {size_of(startup['bytes'])}: ≤ 20 ms",
             f"{startup['ns'] / 1e6:.1f} ms", startup["ns"] <= 20e6)
    return table(["goal", "measured", "met"], rows)


def checkout_goals(row, sizes, at_most):
    """Against peers that are compiled from checkouts."""
    def against(text, ours, peer, mode, limit, n, fpr=0.01):
        value = ratio(query(row(ours, n, fpr), mode, 50), query(row(peer, n, fpr), "single", 50))
        at_most(f"{text}, {count(n)} keys: ≤ {limit:g}x of {peer}'s", value, limit)

    def built_against(text, ours, peer, limit, n, fpr=0.01):
        value = ratio(built(row(ours, n, fpr)), built(row(peer, n, fpr)))
        at_most(f"{text}, {count(n)} keys: ≤ {limit:g}x of {peer}'s", value, limit)

    for n in sizes[1:]:
        built_against("fuse, 4-wise, 8 bits, build", "fuse, 4-wise", "fastfilter_cpp binary fuse (3-wise)", 0.6, n, 1 / 256)
        built_against("expandable, growth by single inserts", "expandable, begun at n/1024, inserted one by one",
                      "Taffy block, begun at n/1024", 3, n)
        against("fuse, 3-wise, 8 bits, single query", "fuse, 3-wise", "fastfilter_cpp binary fuse (3-wise)", "single", 1, n,
                1 / 256)
        against("cuckoo, single query", "cuckoo", "efficient/cuckoofilter, 12 bits", "single", 1, n)
        against("cuckoo, batch query", "cuckoo", "efficient/cuckoofilter, 12 bits", "batch", 1, n)
        against("vector_quotient, single query", "vector_quotient", "VQF, 8 bits", "single", 1, n)
        against("vector_quotient, batch query", "vector_quotient", "VQF, 8 bits", "batch",
                0.6 if n >= 5_000_000 else 0.9, n)
        against("expandable, batch query", "expandable, begun at n/1024", "Taffy block, begun at n/1024", "batch",
                0.4 if n >= 5_000_000 else 1, n)


def static_goals(results, row, large, goal, at_most):
    big = count(large)
    eighth = 1 / 256
    fuse = row("fuse, 3-wise", large, eighth)
    fuse4 = row("fuse, 4-wise", large, eighth)
    peer = row("fastfilter_cpp binary fuse (3-wise)", large, eighth)
    asked = lambda r: query(r, "batch", 50) or query(r, "single", 50)
    at_most(f"fuse, 8 bits, {big}: build ≤ 0.5x of fastfilter_cpp's",
            ratio(built(fuse), built(peer)), 0.5)
    at_most("  batch query ≤ 0.6x", ratio(asked(fuse), asked(peer)), 0.6)
    at_most("  ≤ 9.05 bits/key (3-wise)", (fuse or {}).get("bits_per_key"), 9.05, "bits/key")
    at_most("  ≤ 8.65 bits/key (4-wise)", (fuse4 or {}).get("bits_per_key"), 8.65, "bits/key")
    at_most("  memory beyond the filter while building ≤ 4 B/key",
            (fuse or {}).get("build_memory_per_key"), 4, "B/key")
    ribbon = row("ribbon", large)
    at_most(f"ribbon, {big} at 1%: ≤ 6.80 bits/key", (ribbon or {}).get("bits_per_key"), 6.8,
            "bits/key")
    at_most("  batch query ≤ RocksDB's", ratio(asked(ribbon), asked(row("RocksDB Ribbon", large))),
            1.0)
    peers = [row(p, large) for p in ("RocksDB Ribbon", "fastfilter_cpp homogeneous ribbon", "BuRR bumped ribbon, 64 bits",
                                     "pleat homogeneous ribbon")]
    at_most("  build ≤ 0.8x of the fastest peer's ribbon",
            ratio(built(ribbon), best(map(built, peers))), 0.8)
