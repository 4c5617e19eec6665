#!/usr/bin/env python3
"""Turns a results file of bench/run.sh into the tables of a document and its charts.

    bench/reports/charts.py RESULTS                      prints the tables
    bench/reports/charts.py RESULTS DOCUMENT ...         replaces what stands between the documents' markers
                                                 and writes the charts into the folders beside them

A results file has a JSON object a line. Only Python's standard library is needed.
"""

import argparse
import math
import pathlib
import re
import sys
import textwrap

import drawbacks
from drawing import bars, binary, colour_of, count, figure, lines, percent, size_of, table, times
from goals import goals
from records import Results, built, line_limit, query, ratio


def machine(results, _charts):
    m = results.one("machine")
    if m is None:
        return "Not recorded."
    text = (f"{m['cpu']}, {m['cores']} cores; a core has {m['l1d'] >> 10} KiB of L1 and "
            f"{m['l2'] >> 10} KiB of L2, all share {m['l3'] >> 20} MiB of L3; "
            f"{m['memory'] / 2**30:.0f} GiB of memory. {m['system']}; transparent huge pages: "
            f"{m['huge_pages']}. {m['compiler']}, `{m['flags']}`; kernels: {m['kernels']}.")
    for hash_row in results.all("hash"):
        size = f"{hash_row['bytes']:.0f} bytes"
        key = hash_row["key"] if hash_row["key"] == size else f"{hash_row['key']} ({size})"
        text += f" XXH3 of {key}: {figure(hash_row['ns'])} ns per key."
    if m["without"]:
        text += " Without: " + "; ".join(f"{w['name']} ({w['why']})" for w in m["without"]) + "."
    return text


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
        head = [f"the limit: an array of {size_of(walk['bits_per_key'] * n / 8)}", "ns per key", "fastest prefetch"]
        text += "\n\n" + table(head, [[r["name"], figure(query(r, "batch", 0)), r["remark"].removeprefix("fastest ")]
                                      for r in results.all("filter", n=n, fpr=fpr, group="limit")]
                               + [["fastest of them, two threads", figure(line_limit(results, n, fpr, 2)[0]), ""]])
    drawn = [(r["name"], ask(r, 50), colour_of(r["name"])) for r in rows]
    drawn = sorted((d for d in drawn if d[1]), key=lambda d: d[1])
    if drawn:
        name = f"query-{n}-{fpr * 100:.3g}.svg"
        charts[name] = bars(f"Queries of {count(n)} keys at {percent(fpr)}, half present: ns per key",
                            drawn, ("a random line", limit) if limit else None)
        text += f"\n\n![Time per query]({{folder}}/{name})"
    if n == results.sizes()[-1] and fpr == results.rates(n)[0]:
        text += more_charts(rows, n, fpr, charts)
    return text


def more_charts(rows, n, fpr, charts):
    """Builds and sizes of the largest filters."""
    at = f"{count(n)} keys at {percent(fpr)}"
    builds = sorted((built(r), r["name"], colour_of(r["name"])) for r in rows if built(r))
    charts["build.svg"] = bars(f"Building {at}, one thread: ns per key",
                               [(name, ns, c) for ns, name, c in builds])
    spaces = sorted((of_bound(r), r["name"], colour_of(r["name"])) for r in rows if of_bound(r))
    charts["space.svg"] = bars(f"{at}: bits per key, relative to log2(1 / measured rate)",
                               [(name, times_of, c) for times_of, name, c in spaces], ("the bound", 1))
    return "\n\n![Time to build]({folder}/build.svg)\n\n![Space]({folder}/space.svg)"


def of_bound(row):
    """Bits per key, relative to the least that information theory allows at the measured rate."""
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
        f"{count(n)} keys at 1%: ns per key by the size of the batch", "keys in a batch",
        [(r["name"], [(c["size"], c["ns"]) for c in r["sizes"]]) for r in ours],
        [(name, ns) for ns, name in [min(limits)]] if limits else [])
    body = [[r["name"]] + [figure(c["ns"]) for c in r["sizes"]] for r in ours]
    body += [[r["name"] + f" ({r['remark']})", figure(r["sizes"][0]["ns"])] + [""] * (len(sizes) - 1)
             for r in rows if r["group"] == "limit"]
    limit = (" The limit (random lines) has only one figure, in the first column, because it does not depend on batches."
             if limits else "")
    return (f"{count(n)} keys at 1%; queries of non-members, in one thread. The heading of a column is the number of keys in a "
            f"batch.{limit}\n\n"
            + table(["ns per key"] + [binary(s) for s in sizes], body)
            + "\n\n![Time by batch]({folder}/batches.svg)")


def sets(results, charts):
    rows = results.all("set")
    if not rows:
        return "Not measured."
    base = next(r for r in rows if r["name"] == "bloomset blocked_bloom")

    def asked(row, present):
        return next(q["ns"] for q in row["query"] if q["present"] == present)

    body = [[r["name"], times(r["bytes"] / base["bytes"]), times(asked(r, 50) / asked(base, 50)),
             size_of(r["bytes"]), f"{r['bytes'] / r['n']:.2f}", figure(r["build_ns"])]
            + [figure(asked(r, p)) for p in (0, 50, 100)] for r in rows]
    charts["sets.svg"] = bars(f"{count(base['n'])} URLs: bytes per key",
                              [(r["name"], r["bytes"] / r["n"], colour_of(r["name"])) for r in rows])
    return (f"{count(base['n'])} URLs of {base['text'] / base['n']:.0f} bytes, filters at 1%, one "
            "thread, keys hashed each time.\n\n" + table(["", "memory, ratio", "time, ratio, half present", "memory", "bytes/key",
                                 "build, ns", "absent, ns", "half, ns", "present, ns"], body)
            + "\n\n![Bytes per key]({folder}/sets.svg)")


def files(results, _charts):
    rows = results.all("file")
    text = []
    if rows:
        base = next(r for r in rows if r["name"] == "bloomset build, capacity given")
        body = [[r["name"], times(r["ns"] / base["ns"]), f"{r['ns'] * r['lines'] / 1e9:.2f}",
                 figure(1e3 / r["ns"]), size_of(r["peak"]) if "peak" in r else "–"]
                for r in rows]
        text.append(f"{count(base['lines'])} URL-like lines, {size_of(base['bytes'])}, from the "
                    "page cache.\n\n" + table(["", "time", "seconds", "M lines/s", "peak memory"],
                                              body))
    for r in results.all("dcso"):
        text.append(f"`bench/jobs/compare_dcso.sh {r['lines']}`: {count(r['lines'])} lines such as `user7@example.com`, "
                    "filters at 1%, median wall seconds.\n\n" + table(["", "ratio", "DCSO", "bloomset"],
                                                [[w["what"], f"{w['dcso'] / w['bloomset']:.1f}x",
                                                  f"{w['dcso']:.2f}", f"{w['bloomset']:.2f}"]
                                                 for w in r["rows"]]))
    if startup := results.one("startup"):
        text.append(f"`bloomset check` of one key in a filter of {size_of(startup['bytes'])}: "
                    f"{startup['ns'] / 1e6:.1f} ms, {size_of(startup['peak'])} of memory.")
    if b := results.one("billion"):
        head = [f"{count(b['n'])} generated email addresses in {size_of(b['bytes'])}, k = {b['hashes']}, "
                f"{b['threads']} threads", ""]
        text.append(table(head, [["to make, hash and insert them", f"{b['fill_seconds']:.1f} s"],
                                 ["of this, to insert them", f"{b['insert_seconds']:.1f} s"],
                                 [f"whole run, with {count(b['non_members'])} queries of non-members",
                                  f"{b['seconds']:.1f} s"],
                                 ["planned rate", percent(b["planned_fpr"])],
                                 ["measured rate", percent(b["rate"])],
                                 ["peak memory", size_of(b["peak"])]]))
    return "\n\n".join(text) or "Not measured."


SECTIONS = {"machine": machine, "goals": goals, "filters": filters, "batches": batches,
            "sets": sets, "files": files, **drawbacks.SECTIONS}
MARKER = re.compile(r"<!-- results: (\w+) -->\n.*?<!-- end of results -->", re.DOTALL)


def fill_in(document, results):
    """Writes the document anew, and the charts of its sections."""
    folder = document.parent / document.stem
    charts = {}

    def section(match):
        name = match[1]
        if name not in SECTIONS:
            sys.exit(f"{document}: there are no results called {name}")
        text = wrapped(SECTIONS[name](results, charts).replace("{folder}", folder.name))
        return f"<!-- results: {name} -->\n{text}\n<!-- end of results -->"

    text, count_of = MARKER.subn(section, document.read_text())
    if not count_of:
        sys.exit(f"{document}: no place for results; it needs a line '<!-- results: NAME -->' and a "
                 "line '<!-- end of results -->' below it")
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, chart in charts.items():
        (folder / name).write_text(chart)
    document.write_text(text)
    print(f"{document}: {count_of} sections and {len(charts)} charts")


def wrapped(text):
    """Paragraphs in lines of at most 150 characters; tables, headings and pictures as they are."""
    return "\n".join(line if re.match(r"[|#!<]", line) else textwrap.fill(line, 150, break_long_words=False, break_on_hyphens=False)
                     for line in text.split("\n"))


def main():
    parser = argparse.ArgumentParser(description="tables and charts of a benchmark's results")
    parser.add_argument("results")
    parser.add_argument("documents", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    results = Results(options.results)
    for document in options.documents:
        fill_in(document, results)
    if options.documents:
        return
    for name, section in SECTIONS.items():
        without_charts = re.sub(r"\n*!\[[^]]*\]\([^)]*\)", "", section(results, {}))
        print(f"## {name}\n\n{without_charts}\n")


if __name__ == "__main__":
    main()
