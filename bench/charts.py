#!/usr/bin/env python3
"""Turns a results file of bench/run.sh into the tables of a document and its charts.

    bench/charts.py RESULTS                      prints the tables
    bench/charts.py RESULTS docs/benchmarks.md   replaces what stands between the document's markers
                                                 and writes the charts into the folder beside it

A results file has a JSON object a line. Only Python's standard library is needed.
"""

import argparse
import json
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

OURS, PEER, LIMIT = "#1b6ca8", "#9aa5ad", "#c8553d"
LINE_COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#8a5a9e", "#b8860b", "#5f6b73", "#2aa198"]


# -- the results ------------------------------------------------------------------------------


class Results:
    """The records of one file, by what they are."""

    def __init__(self, path):
        lines = pathlib.Path(path).read_text().splitlines()
        self.records = [json.loads(line) for line in lines if line.strip()]
        if not self.records:
            sys.exit(f"{path}: there are no results in it; bench/run.sh writes them")

    def all(self, record, **wanted):
        return [r for r in self.records if r["record"] == record
                and all(r.get(k) == v for k, v in wanted.items())]

    def one(self, record, **wanted):
        found = self.all(record, **wanted)
        return found[-1] if found else None

    def sizes(self):
        return sorted({r["n"] for r in self.all("filter")})

    def rates(self, n):
        return sorted({r["fpr"] for r in self.all("filter", n=n)}, reverse=True)


def query(row, mode, present, threads=1):
    """Nanoseconds a key, or None."""
    if row is None:
        return None
    for cell in row["query"]:
        if (cell["mode"], cell["present"], cell["threads"]) == (mode, present, threads):
            return cell["ns"]
    return None


def built(row, threads=1):
    for cell in (row or {}).get("build", []):
        if cell["threads"] == threads:
            return cell["ns"]
    return None


def best(values):
    values = [v for v in values if v is not None]
    return min(values) if values else None


def ratio(a, b):
    return None if a is None or not b else a / b


# -- numbers for people -----------------------------------------------------------------------


def figure(value, digits=3):
    """As many significant digits, and no more than two behind the point."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    whole = len(str(int(value)))
    return f"{value:.{max(0, min(2, digits - whole))}f}"


def times(value):
    return "–" if value is None else f"{value:.2f}x"


def count(n):
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if n >= size:
            return f"{n / size:.4g} {unit}"
    return str(n)


def size_of(n):
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n} B"


def percent(rate):
    return f"{100 * rate:.3g}%"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


# -- charts -----------------------------------------------------------------------------------


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" '
            f'fill="#222" role="img">\n<title>{escape(title)}</title>\n'
            f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
            f'<text x="12" y="24" font-size="15" font-weight="bold">{escape(title)}</text>\n'
            + "\n".join(body) + "\n</svg>\n")


def bars(title, rows, mark=None):
    """Horizontal bars of (label, value, colour), and a dashed line at `mark` = (label, value)."""
    left, right, step, top = 420, 90, 24, 44
    width, height = 960, top + step * len(rows) + (34 if mark else 12)
    scale = (width - left - right) / max([v for _, v, _ in rows] + ([mark[1]] if mark else []))
    body = []
    for i, (label, value, colour) in enumerate(rows):
        y = top + step * i
        body.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(label)}</text>')
        body.append(f'<rect x="{left}" y="{y + 3}" width="{max(1, value * scale):.1f}" '
                    f'height="{step - 7}" fill="{colour}"/>')
        body.append(f'<text x="{left + value * scale + 6:.1f}" y="{y + 15}">{figure(value)}</text>')
    if mark:
        x, bottom = left + mark[1] * scale, top + step * len(rows)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom + 6}" '
                    f'stroke="{LIMIT}" stroke-width="2" stroke-dasharray="5 4"/>')
        body.append(f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle" fill="{LIMIT}">'
                    f'{escape(mark[0])}: {figure(mark[1])}</text>')
    return svg(width, height, title, body)


def lines(title, across, series, marks):
    """Curves of (label, [(x, y), ...]) whose x stand in equal steps, and horizontal lines (label, y)."""
    left, right, top, bottom, width, height = 50, 410, 44, 52, 1040, 420
    xs = sorted({x for _, points in series for x, _ in points})
    most = 1.08 * max([y for _, points in series for _, y in points] + [y for _, y in marks])
    inner_width, inner_height = width - left - right, height - top - bottom
    places = {x: left + inner_width * i / max(1, len(xs) - 1) for i, x in enumerate(xs)}

    def at(y):
        return top + inner_height * (1 - y / most)

    body = []
    for i in range(6):
        y = most * i / 5
        body.append(f'<line x1="{left}" x2="{left + inner_width}" y1="{at(y):.1f}" '
                    f'y2="{at(y):.1f}" stroke="#ddd"/>')
        body.append(f'<text x="{left - 8}" y="{at(y) + 4:.1f}" text-anchor="end">{y:.1f}</text>')
    for x in xs:
        body.append(f'<text x="{places[x]:.1f}" y="{height - bottom + 20}" '
                    f'text-anchor="middle">{binary(x)}</text>')
    body.append(f'<text x="{left + inner_width / 2}" y="{height - 12}" '
                f'text-anchor="middle">{escape(across)}</text>')
    labels = []
    for i, (label, points) in enumerate(series):
        colour = LINE_COLOURS[i % len(LINE_COLOURS)]
        path = " ".join(f"{places[x]:.1f},{at(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        labels.append((at(points[-1][1]), label, colour))
    for label, y in marks:
        body.append(f'<line x1="{left}" x2="{left + inner_width}" y1="{at(y):.1f}" '
                    f'y2="{at(y):.1f}" stroke="#222" stroke-dasharray="5 4"/>')
        labels.append((at(y), label, "#222"))
    last = 0
    for y, label, colour in sorted(labels):  # one below the other
        last = max(y + 4, last + 15)
        body.append(f'<text x="{left + inner_width + 8}" y="{last:.1f}" fill="{colour}">'
                    f'{escape(label)}</text>')
    return svg(width, max(height, int(last) + 12), title, body)


def binary(n):
    for power, unit in ((20, "Mi"), (10, "Ki")):
        if n >= 1 << power:
            return f"{n >> power}{unit}"
    return str(n)


# -- sections ---------------------------------------------------------------------------------


def machine(results, _charts):
    m = results.one("machine")
    if m is None:
        return "Not recorded."
    text = (f"{m['cpu']}, {m['cores']} cores; a core has {m['l1d'] >> 10} KiB of L1 and "
            f"{m['l2'] >> 10} KiB of L2, all share {m['l3'] >> 20} MiB of L3; "
            f"{m['memory'] / 2**30:.0f} GiB of memory. {m['system']}; transparent huge pages: "
            f"{m['huge_pages']}. {m['compiler']}, `{m['flags']}`; kernels: {m['kernels']}.")
    for hash_row in results.all("hash"):
        text += (f" XXH3 of {hash_row['key']} ({hash_row['bytes']:.0f} bytes): "
                 f"{figure(hash_row['ns'])} ns.")
    if m["without"]:
        text += " Without: " + "; ".join(f"{w['name']} ({w['why']})" for w in m["without"]) + "."
    return text


def line_limit(results, n, fpr, threads=1):
    """The fastest of the random lines that were walked at that size: (record, ns)."""
    rows = [(query(r, "batch", 0, threads), r)
            for r in results.all("filter", n=n, fpr=fpr, group="limit")]
    rows = [r for r in rows if r[0] is not None]
    return min(rows, key=lambda r: r[0]) if rows else (None, None)


def filters(results, charts):
    parts = []
    for n in results.sizes():
        for fpr in results.rates(n):
            parts.append(filter_table(results, n, fpr, charts))
    return "\n\n".join(parts) or "Not measured."


def filter_table(results, n, fpr, charts):
    rows = [r for r in results.all("filter", n=n, fpr=fpr) if r["group"] != "limit"]
    rows.sort(key=lambda r: (r["group"] != "ours", r["takes"] == "keys"))

    def ask(row, present):
        return query(row, "batch", present) or query(row, "single", present)

    base = {r["takes"]: ask(r, 50) for r in rows if r["name"] in ("blocked_bloom",
                                                                  "blocked_bloom, of keys")}

    def triple(row, mode):
        cells = [query(row, mode, present) for present in (0, 50, 100)]
        return "–" if cells[0] is None else " / ".join(map(figure, cells))

    lines_of = [[r["name"], times(ratio(ask(r, 50), base.get(r["takes"]))),
                 f"{r['bits_per_key']:.2f}", times(of_bound(r)), percent(r["rate"]),
                 f"{figure(built(r))} / {figure(built(r, 2))}",
                 triple(r, "batch"), triple(r, "single"),
                 f"{figure(query(r, 'batch', 50, 2))} / {figure(query(r, 'single', 50, 2))}",
                 figure(query(r, "bulk", 50))] for r in rows]
    head = ["", "time", "bits/key", "of the bound", "rate", "build, 1 / 2 threads", "batch: absent / half / present",
            "single: absent / half / present", "2 threads, half: batch / single", "one large batch"]
    text = f"### {count(n)} keys at {percent(fpr)}\n\n" + table(head, lines_of)
    limit, walk = line_limit(results, n, fpr)
    if limit:
        each = "; ".join(f"{r['name']} {figure(query(r, 'batch', 0))} ns ({r['remark']})"
                         for r in results.all("filter", n=n, fpr=fpr, group="limit"))
        text += (f"\n\nThe limit, {size_of(walk['bits_per_key'] * n / 8)}: {each}; "
                 f"with two threads {figure(line_limit(results, n, fpr, 2)[0])} ns.")
    drawn = [(r["name"], ask(r, 50), OURS if r["group"] == "ours" else PEER) for r in rows]
    drawn = sorted((d for d in drawn if d[1]), key=lambda d: d[1])
    if drawn:
        name = f"query-{n}-{fpr * 100:.3g}.svg"
        charts[name] = bars(f"Asking {count(n)} keys at {percent(fpr)}, half present: ns a key",
                            drawn, ("a random line", limit) if limit else None)
        text += f"\n\n![Time a query]({{folder}}/{name})"
    if n == results.sizes()[-1] and fpr == results.rates(n)[0]:
        text += more_charts(rows, n, fpr, charts)
    return text


def more_charts(rows, n, fpr, charts):
    """Builds and sizes of the largest filters."""
    at = f"{count(n)} keys at {percent(fpr)}"
    colour = lambda r: OURS if r["group"] == "ours" else PEER
    builds = sorted((built(r), r["name"], colour(r)) for r in rows if built(r))
    charts["build.svg"] = bars(f"Building {at}, one thread: ns a key",
                               [(name, ns, c) for ns, name, c in builds])
    spaces = sorted((of_bound(r), r["name"], colour(r)) for r in rows if of_bound(r))
    charts["space.svg"] = bars(f"{at}: bits, in times of log2(1 / measured rate)",
                               [(name, times_of, c) for times_of, name, c in spaces], ("the bound", 1))
    return "\n\n![Time to build]({folder}/build.svg)\n\n![Space]({folder}/space.svg)"


def of_bound(row):
    """Bits a key in times of what information theory asks for the measured rate."""
    return row["bits_per_key"] / math.log2(1 / row["rate"]) if 0 < row["rate"] < 1 else None


def batches(results, charts):
    rows = results.all("batches")
    if not rows:
        return "Not measured."
    n = rows[0]["n"]
    ours = [r for r in rows if r["group"] != "limit"]
    limits = [(r["sizes"][0]["ns"], r["name"]) for r in rows if r["group"] == "limit"]
    sizes = [c["size"] for c in ours[0]["sizes"]]
    charts["batches.svg"] = lines(
        f"{count(n)} keys at 1%: ns a key by the size of the batch", "keys in a batch",
        [(r["name"], [(c["size"], c["ns"]) for c in r["sizes"]]) for r in ours],
        [(name, ns) for ns, name in [min(limits)]] if limits else [])
    body = [[r["name"]] + [figure(c["ns"]) for c in r["sizes"]] for r in ours]
    body += [[r["name"] + f" ({r['remark']})", figure(r["sizes"][0]["ns"])] + [""] * (len(sizes) - 1)
             for r in rows if r["group"] == "limit"]
    return (f"{count(n)} keys at 1%, strangers, one thread.\n\n"
            + table(["ns a key"] + [binary(s) for s in sizes], body)
            + "\n\n![Time by batch]({folder}/batches.svg)")


def sets(results, charts):
    rows = results.all("set")
    if not rows:
        return "Not measured."
    base = next(r for r in rows if r["name"] == "bloomery blocked_bloom")

    def asked(row, present):
        return next(q["ns"] for q in row["query"] if q["present"] == present)

    body = [[r["name"], times(r["bytes"] / base["bytes"]), times(asked(r, 50) / asked(base, 50)),
             size_of(r["bytes"]), f"{r['bytes'] / r['n']:.2f}", figure(r["build_ns"])]
            + [figure(asked(r, p)) for p in (0, 50, 100)] for r in rows]
    charts["sets.svg"] = bars(f"{count(base['n'])} URLs: bytes a key",
                              [(r["name"], r["bytes"] / r["n"],
                                OURS if r["name"].startswith("bloomery") else PEER) for r in rows])
    return (f"{count(base['n'])} URLs of {base['text'] / base['n']:.0f} bytes, filters at 1%, one "
            "thread, keys hashed each time.\n\n" + table(["", "memory, ratio", "time, ratio, half present", "memory", "bytes/key",
                                 "build, ns", "absent, ns", "half, ns", "present, ns"], body)
            + "\n\n![Bytes a key]({folder}/sets.svg)")


def files(results, _charts):
    rows = results.all("file")
    text = []
    if rows:
        base = next(r for r in rows if r["name"] == "bloomery build, capacity given")
        body = [[r["name"], times(r["ns"] / base["ns"]), f"{r['ns'] * r['lines'] / 1e9:.2f}",
                 figure(1e3 / r["ns"]), size_of(r["peak"]) if "peak" in r else "–"]
                for r in rows]
        text.append(f"{count(base['lines'])} URL-like lines, {size_of(base['bytes'])}, from the "
                    "page cache.\n\n" + table(["", "time", "seconds", "M lines/s", "peak memory"],
                                              body))
    for r in results.all("dcso"):
        text.append(f"`bench/compare_dcso.sh {r['lines']}`: {count(r['lines'])} lines at 1%, median "
                    "wall seconds.\n\n" + table(["", "ratio", "DCSO", "bloomery"],
                                                [[w["what"], f"{w['dcso'] / w['bloomery']:.1f}x",
                                                  f"{w['dcso']:.2f}", f"{w['bloomery']:.2f}"]
                                                 for w in r["rows"]]))
    if startup := results.one("startup"):
        text.append(f"`bloomery check` of one key in a filter of {size_of(startup['bytes'])}: "
                    f"{startup['ns'] / 1e6:.1f} ms, {size_of(startup['peak'])} of memory.")
    if b := results.one("billion"):
        text.append(f"{count(b['n'])} generated addresses in {size_of(b['bytes'])} (k = "
                    f"{b['hashes']}, {b['threads']} threads): {b['fill_seconds']:.1f} s to make, hash "
                    f"and insert them ({b['insert_seconds']:.1f} s of it to insert), "
                    f"{b['seconds']:.1f} s with {count(b['strangers'])} strangers asked; planned "
                    f"{percent(b['planned_fpr'])}, measured {percent(b['rate'])}; peak memory "
                    f"{size_of(b['peak'])}.")
    return "\n\n".join(text) or "Not measured."


# -- goals ------------------------------------------------------------------------------------


def goals(results, _charts):
    """The project's goals, each from figures of this run. Sizes other than those that a goal names
    stand in where a run has no larger ones, and the table says so."""
    rows = []

    def goal(text, measured, met):
        verdict = "–" if met is None else "yes" if met else "**no**"
        rows.append([text, measured if met is not None else "not measured", verdict])

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
    speedup = ratio(built(blocked), built(blocked, 2))
    goal("  2 threads ≥ 1.8x of 1", times(speedup), None if speedup is None else speedup >= 1.8)

    file_rows = {r["name"]: r["ns"] for r in results.all("file")}
    lines_read = results.all("file")[0]["lines"] if file_rows else 0
    build = file_rows.get("bloomery build, capacity given")
    dcso = ratio(file_rows.get("DCSO bloom insert, capacity given"), build)
    goal(f"`bloomery build` of {count(lines_read)} lines: ≥ 8x the DCSO CLI", times(dcso),
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
    if startup := results.one("startup"):
        goal(f"`bloomery check` of one key, {size_of(startup['bytes'])}: ≤ 20 ms",
             f"{startup['ns'] / 1e6:.1f} ms", startup["ns"] <= 20e6)
    return table(["goal", "measured", "met"], rows)


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
    peers = [row(p, large) for p in ("RocksDB Ribbon", "fastfilter_cpp homogeneous ribbon")]
    at_most("  build ≤ 0.8x of the fastest peer's ribbon",
            ratio(built(ribbon), best(map(built, peers))), 0.8)


SECTIONS = {"machine": machine, "goals": goals, "filters": filters, "batches": batches,
            "sets": sets, "files": files}


def main():
    parser = argparse.ArgumentParser(description="tables and charts of a benchmark's results")
    parser.add_argument("results")
    parser.add_argument("document", nargs="?")
    options = parser.parse_args()
    results = Results(options.results)
    charts = {}
    texts = {name: section(results, charts) for name, section in SECTIONS.items()}
    if options.document is None:
        for name, text in texts.items():
            without_charts = re.sub(r"\n*!\[[^]]*\]\([^)]*\)", "", text)
            print(f"## {name}\n\n{without_charts}\n")
        return
    document = pathlib.Path(options.document)
    folder = document.parent / document.stem
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, chart in charts.items():
        (folder / name).write_text(chart)
    text = document.read_text()
    for name, section in texts.items():
        begin, end = f"<!-- results: {name} -->", "<!-- end of results -->"
        parts = text.split(begin)
        if len(parts) != 2 or end not in parts[1]:
            sys.exit(f"{document}: no place for the results of {name}; it needs a line '{begin}' "
                     f"and a line '{end}' below it")
        rest = parts[1].split(end, 1)[1]
        text = f"{parts[0]}{begin}\n{section.replace('{folder}', folder.name)}\n{end}{rest}"
    document.write_text(text)
    print(f"{document}: {len(texts)} sections and {len(charts)} charts")


if __name__ == "__main__":
    main()
