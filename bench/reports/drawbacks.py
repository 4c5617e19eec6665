"""The sections of docs/how-it-works/drawbacks.md: what counting, growth and a full table cost."""

from drawing import Linear, bars, binary, colour_of, count, figure, lines, percent, size_of, table, times
from records import ratio


def counting(results, charts):
    rows = results.all("counting")
    if not rows:
        return "Not measured."
    base = next(r for r in rows if r["name"] == "counting_bloom")
    body = [[r["name"], times(ratio(r["bits_per_key"], base["bits_per_key"])),
             figure(r["bits_per_key"], 4), percent(r["rate"]), "yes" if r["erases"] else "no",
             "yes" if r["counts"] else "no"] for r in rows]
    charts["counting.svg"] = bars(f"{count(base['n'])} keys at 1%: bits per key",
                                  [(r["name"], r["bits_per_key"], colour_of(r["name"])) for r in rows])
    return (f"{count(base['n'])} keys, planned for 1%.\n\n"
            + table(["", "memory, ratio", "bits/key", "measured rate", "erases", "counts"], body)
            + "\n\n![Bits per key]({folder}/counting.svg)")


def grown(results):
    """Records of each filter on its way, by name and in order of size."""
    series = {}
    for r in results.all("growth"):
        series.setdefault(r["name"], []).append(r)
    return {name: sorted(rows, key=lambda r: r["n"]) for name, rows in series.items()}


def made_for(name):
    """What a growing filter is to be compared with: one of its kind made at that size."""
    return name.split(",")[0] + ", made at that size"


def at_a_time(name):
    """How the keys come: in one batch, if the name does not say it."""
    return name.split(", ")[1] if "at a time" in name else "in one batch"


SHOWN_AFTER = (8, 12, 16, 20)   # doublings of the first size


def against_made(series):
    """The time of a query in a grown filter relative to one made at that size: in batches, and one by one."""
    first = next(iter(series.values()))[0]["n"]
    sizes = [first << k for k in SHOWN_AFTER]
    made = {name: {r["n"]: r for r in rows} for name, rows in series.items()}
    body = []
    for name, at in made.items():
        twin = made.get(made_for(name))
        if not twin or twin is at or "vector" in name:
            continue
        body.append([name] + [" / ".join(times(ratio(at[n][what], twin[n][what]))
                                         for what in ("absent_ns", "alone_ns"))
                              if n in at and n in twin else "–" for n in sizes])
    return ("The next table shows how much longer a query of a non-member takes in a grown filter than in a filter made at "
            "that size. The first ratio of a cell is for batches of 1024 keys, the second for one key at a time. The "
            "heading of a column has the factor of growth and the number of keys after the growth.\n\n"
            + table([""] + [f"2^{k}, {count(n)} keys" for k, n in zip(SHOWN_AFTER, sizes)], body))


def mean_insert(rows):
    """The time of an insert in the mean over all keys of a filter that doubled from record to record."""
    return sum(r["insert_ns"] * (r["n"] / 2 if i else r["n"]) for i, r in enumerate(rows)) / rows[-1]["n"]


def growth(results, charts):
    series = grown(results)
    if not series:
        return "Not measured."
    most = max(rows[-1]["n"] for rows in series.values())
    ends = {name: rows[-1] for name, rows in series.items() if rows[-1]["n"] == most}
    longest = {r["name"]: r["ms"] for r in results.all("longest")}
    quotients = {at_a_time(n): end["insert_ns"] for n, end in ends.items() if "vector" in n}
    body = []
    for name, end in ends.items():
        insert = end["insert_ns"]
        if "made" not in name and "vector" not in name:
            insert = mean_insert(series[name])
        beside = quotients.get(at_a_time(name)) if "vector" not in name else None
        body.append([name, figure(end["absent_ns"]), figure(end["present_ns"]),
                     figure(insert), times(ratio(insert, beside) if beside else None),
                     f"{longest[name]:.2f}" if name in longest else "–",
                     figure(end["bits_per_key"], 4),
                     percent(max(r["rate"] for r in series[name] if r["n"] >= 1024)
                             if name in series else 0)])
    text = ("Except for `vector_quotient` and filters \"made at that size\", each filter grew from 64 keys to "
            f"{count(most)} keys at 1%. One thread runs. Queries are in batches of 1024 keys. All keys of one doubling are "
            "inserted in a single batch, unless the name of the filter says otherwise. "
            "Times are in ns per key, and each is the minimum of three runs. In each run, the filters are measured in turn "
            "at each size.\n\n"
            + table(["", "query, absent", "query, present", "insert",
                     "insert, relative to vector_quotient", "longest insert, ms", "bits/key",
                     "highest rate from 1024 keys on"], body)
            + "\n\n" + against_made(series))
    growing = {n: rows for n, rows in series.items()
               if rows[-1]["n"] == most and at_a_time(n) != "one key at a time"
               and n != "vector_quotient, 1024 keys at a time"}

    def chart(name, title, value, unit, marks=(), of=growing, **options):
        charts[name] = lines(title, "keys", [(label, [(r["n"], value(r)) for r in rows])
                                             for label, rows in of.items()], list(marks), **options)
        return f"\n\n![{unit}]({{folder}}/{name})"

    text += chart("growth-time.svg", "Query of a non-member as a filter grows: ns",
                  lambda r: r["absent_ns"], "Time by size")
    text += chart("growth-bits.svg", "Bits per key as a filter grows (from 1024 keys on)",
                  lambda r: r["bits_per_key"], "Bits per key by size",
                  of={n: [r for r in rows if r["n"] >= 1024] for n, rows in growing.items()})
    text += chart("growth-rate.svg", "Rate of false positives, measured, in percent",
                  lambda r: 100 * r["rate"], "Rate by size", marks=[("requested: 1%", 1)],
                  of={n: rows for n, rows in series.items() if "made" not in n
                      and "beyond" not in n and "vector" not in n
                      and at_a_time(n) != "one key at a time"},
                  axis=Linear, tick=lambda y: f"{y:.1f}")
    past = [r for n, rows in series.items() if "beyond" in n for r in rows]
    if past:
        text += "\n\n" + table(["a Bloom filter for 64 keys, with"] + [count(r["n"]) for r in past],
                               [["measured rate"] + [percent(r["rate"]) for r in past]])
    return text


def loads(results, charts):
    rows = results.all("load")
    if not rows:
        return "Not measured."
    everywhere = [p["load"] for p in rows[-1]["points"]]

    def at(row, load):
        return next((p["ns"] for p in row["points"] if p["load"] == load), None)

    charts["loads.svg"] = lines("Insert as the table fills: ns", "share of slots taken",
                                [(r["name"], [(p["load"], p["ns"]) for p in r["points"]])
                                 for r in rows], [], [x / 10 for x in range(1, 10)],
                                x_axis=Linear, label=lambda x: f"{100 * x:.0f}%")
    shown = [x for x in everywhere if x >= 0.5]
    before = max((x for x in everywhere if x < 0.5), default=0)
    return ("Each cell has the insert time in ns per key while the load rises from that of the column before to that of "
            f"its own column. The first column begins at {100 * before:.0f}%. Tables have {binary(rows[0]['slots'])} slots, and "
            "batches have 128 keys. A dash means that the table was full before this load.\n\n"
            + table(["load"] + [f"{100 * x:.0f}%" for x in shown],
                    [[r["name"]] + [figure(at(r, x)) for x in shown] for r in rows])
            + "\n\n![Insert by load]({folder}/loads.svg)")


def sizing(results, _charts):
    rows = results.all("sizing")
    if not rows:
        return "Not measured."
    at = {(r["name"], r["n"]): r for r in rows}
    names = list(dict.fromkeys(r["name"] for r in rows))
    sizes = sorted({r["n"] for r in rows})
    exact = {n: at[names[0], n] for n in sizes}

    def cells(cell, shown):
        return [[name] + [cell(at[name, n], exact[n]) if (name, n) in at else "–" for n in shown]
                for name in names]

    large = [n for n in sizes if n >= 1_000_000]
    machine = results.one("machine")
    where = f"{machine['cpu']}, {machine['cores']} cores. " if machine else ""
    return (where + "The planned rate is 1%. Each cell has the bits of the filter, relative to those of the filter that is "
            "given the number of keys, and the measured rate. The heading of a column is the number of keys.\n\n"
            + table([""] + [count(n) for n in sizes],
                    cells(lambda r, e: f"{times(ratio(r['bits'], e['bits']))}, {percent(r['rate'])}", sizes))
            + "\n\nThe programs took this time, and had at most this resident memory:\n\n"
            + table([""] + [f"{count(n)} keys" for n in large],
                    cells(lambda r, _: f"{r['ns'] * r['n'] / 1e9:.2f} s, {size_of(r['peak'])}", large)))


SECTIONS = {"sizing": sizing, "counting": counting, "growth": growth, "loads": loads}
