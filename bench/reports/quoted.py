#!/usr/bin/env python3
"""Figures of a results file that pages quote outside of its tables.

    bench/reports/quoted.py RESULTS            writes them into the pages
    bench/reports/quoted.py --check RESULTS    fails if a page has others

A quote is a piece of a page's text with {} for each figure, and the figures; KEPT leaves the page's. Line breaks of
the page are kept. A page that says it in other words fails, so that whoever changes the words changes them here too.
"""

import argparse
import pathlib
import re
import sys

import drawbacks
from drawing import figure
from records import Results, built, line_limit, query, ratio

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = "docs/how-it-works/kinds/"
BENCHMARKS = "docs/how-it-works/benchmarks.md"
OTHER_CPUS = [ROOT / "bench" / "results" / name for name in ("avx2.jsonl", "intel.jsonl", "zen3.jsonl")]
DECISIONS = "docs/maintain/decisions/"
M, M100, GROWN = 10**6, 10**8, 2**27
HALF = "1 M keys, 1%, half of the queried keys members"
KEPT = object()


class Figures:
    """Nanoseconds per key, half of the queried keys members, unless it says otherwise."""

    def __init__(self, results):
        self.results = results

    def one(self, record, **wanted):
        found = self.results.one(record, **wanted)
        if found is None:
            what = " ".join([record] + [f"{key}={value}" for key, value in wanted.items()])
            sys.exit(f"{self.results.path}: it lacks a record that a page quotes: {what}; bench/run.sh measures it, "
                     "some with checkouts of peers (bench/run.sh --help)")
        return found

    def row(self, name, n=M, fpr=0.01):
        return self.one("filter", name=name, n=n, fpr=fpr)

    def batch(self, name, n=M, fpr=0.01):
        return query(self.row(name, n, fpr), "batch", 50)

    def single(self, name, n=M, fpr=0.01):
        return query(self.row(name, n, fpr), "single", 50)

    def both(self, name, n=M):
        return [self.batch(name, n), self.single(name, n)]

    def build(self, name, n=M, threads=1, fpr=0.01):
        return built(self.row(name, n, fpr), threads)

    def grown(self, name):
        """Queries of non-members and of members in batches of 1024, after growth to 134 M keys."""
        return [self.at(name, "absent_ns"), self.at(name, "present_ns")]

    def at(self, name, what, n=GROWN):
        return self.one("growth", name=name, n=n)[what]

    def size(self, name, n):
        """Queries of 100 M keys in batches of n."""
        row = self.one("batches", name=name)
        return next(c["ns"] for c in row["sizes"] if c["size"] == n)

    def load(self, name, load):
        """Inserts up to this load."""
        return next(p["ns"] for p in self.one("load", name=name)["points"] if p["load"] == load)

    def loads(self, name):
        """The least and the most time of an insert at any load."""
        times = [point["ns"] for point in self.one("load", name=name)["points"]]
        return [min(times), max(times)]

    def longest(self, name):
        return self.one("longest", name=name)["ms"]

    def set(self, name):
        return self.one("set", name=name)

    def set_half(self, name):
        return next(q["ns"] for q in self.set(name)["query"] if q["present"] == 50)

    def dcso(self, what):
        row = next(r for r in self.one("dcso")["rows"] if r["what"] == what)
        return f"{row['bloomset']:.2f}", f"{row['dcso']:.2f}", f"{row['dcso'] / row['bloomset']:.1f}"


def quotes(of):
    """(page, text, figures) for every quote."""
    found = []

    def quote(page, text, *figures):
        if None in figures:
            sys.exit(f"{of.results.path}: it lacks a figure of this quote in {page}: {text}")
        digits = 2 if page.startswith(KINDS) and not text.startswith("|") else 3
        found.append((page, text, [f if f is KEPT or isinstance(f, str) else figure(f, digits) for f in figures]))

    def kind(page, name, words=HALF, large=True):
        text = "{} ns in batches, {} ns one by one (" + words + ")"
        if large:
            text += "; {} and {} ns for 100 M keys"
        quote(KINDS + page + ".md", text, *of.both(name), *(of.both(name, M100) if large else []))

    # The kinds' pages.
    for name in ("blocked_bloom", "bloom", "counting_bloom", "cuckoo", "ribbon"):
        kind(name, name)
    kind("fuse", "fuse, 3-wise", HALF + ", 3 slots per key")
    kind("vector_quotient", "vector_quotient", large=False)
    kind("expandable", "expandable", "1%, half of the queried keys members, not grown", large=False)
    scalable = "scalable_bloom, begun at n/16"
    quote(KINDS + "scalable_bloom.md",
          "{} ns in batches, {} ns one by one (made for n/16 keys, n = 1 M, 1%, half of the queried keys members); "
          "{} and {} ns for n = 100 M", *of.both(scalable), *of.both(scalable, M100))
    quote(KINDS + "scalable_bloom.md", "{} ns per key (made for n/16 keys, n = 1 M)", of.build(scalable))
    quote(KINDS + "scalable_bloom.md", "its longest insert took {} ms", of.longest("scalable_bloom"))
    quote(KINDS + "blocked_bloom.md", "{} ns per key for 1 M keys, {} ns for 100 M, or {} ns with two threads",
          of.build("blocked_bloom"), of.build("blocked_bloom", M100), of.build("blocked_bloom", M100, 2))
    for name in ("bloom", "cuckoo"):
        quote(KINDS + name + ".md", "{} ns per key for 1 M keys, {} ns for 100 M", of.build(name), of.build(name, M100))
    quote(KINDS + "counting_bloom.md", "an insert takes {} ns per key for 1 M keys", of.build("counting_bloom"))
    quote(KINDS + "vector_quotient.md", "{} ns per key for 1 M keys; up to the capacity", of.build("vector_quotient"))
    quote(KINDS + "expandable.md", "{} ns per key for 1 M keys; no insert", of.build("expandable"))
    for name, page in (("fuse, 3-wise", "fuse"), ("ribbon", "ribbon")):
        quote(KINDS + page + ".md", "{} ns per key for 1 M keys; for 100 M keys {} ns, or {} ns with two threads",
              of.build(name), of.build(name, M100), of.build(name, M100, 2))
    quote(KINDS + "fuse.md", "takes {} ns at 1/256 (8 bits) but {} ns at 1% (7 bits)",
          of.batch("fuse, 3-wise", M100, 1 / 256), of.batch("fuse, 3-wise", M100))
    quote(KINDS + "cuckoo.md", "a query takes {} ns, against {} ns in", of.single("cuckoo"), of.single("vector_quotient"))
    quote(KINDS + "ribbon.md", "`fuse` is {} times as fast in single queries, and {} times as fast in batches",
          figure(ratio(of.single("ribbon"), of.single("fuse, 3-wise")), 2),
          figure(ratio(of.batch("ribbon"), of.batch("fuse, 3-wise")), 2))
    quote(KINDS + "vector_quotient.md", "{} ns for a non-member, {} ns for a member (in batches of 1024)",
          *of.grown("vector_quotient, made at that size"))
    quote(KINDS + "expandable.md", "{} ns for a non-member, {} ns for a member (batches of 1024, grown from 64 keys)",
          *of.grown("expandable"))
    quote(KINDS + "vector_quotient.md", "an insert takes {} to {} ns at every load up to 97%", *of.loads("vector_quotient"))
    quote(KINDS + "cuckoo.md", "| `cuckoo` | {} | {} | {} | | [`vector_quotient`](vector_quotient.md) | {} | {} | {} |",
          *[figure(of.load(name, load), 2) for name in ("cuckoo, breadth first", "vector_quotient")
            for load in (0.9, 0.95, 0.97)])
    quote(KINDS + "bloom.md", "its batch queries are {} times as fast", ratio(of.batch("bloom"), of.batch("blocked_bloom")))
    quote(KINDS + "expandable.md", "{} ms for single keys", of.longest("expandable"))
    quote(KINDS + "fuse.md", "batches of 4 M and 16 M non-members take {} and {} ns per key, and batches of 1 M, which are "
          "not grouped, {} ns", *[of.size("fuse, 3-wise", 1 << k) for k in (22, 24, 20)])

    # Growth.
    page = "docs/how-it-works/drawbacks.md"
    grown, made = "expandable, one key at a time", "expandable, made at that size"
    quote(page, "take {} times as long at 67 million keys, and {} times as long at 134 million",
          *[ratio(of.at(grown, "absent_ns", n), of.at(made, "absent_ns", n)) for n in (GROWN // 2, GROWN)])
    quote(page, "in batches of 1024 keys take {} ns per key, whereas a whole doubling in a single batch takes {} ns",
          *[drawbacks.mean_insert(drawbacks.grown(of.results)[name])
            for name in ("expandable, 1024 keys at a time", "expandable")])

    # The table of all kinds, whose bits per key are those of plans.
    planned = [KEPT, KEPT]
    for head, name in (("`blocked_bloom`", "blocked_bloom"), ("`bloom`", "bloom"), ("`counting_bloom`", "counting_bloom"),
                       ("`vector_quotient`", "vector_quotient"), ("`cuckoo`", "cuckoo"), ("`expandable`", "expandable"),
                       ("`fuse`, 3 slots per key", "fuse, 3-wise"), ("`ribbon`", "ribbon")):
        quote(KINDS + "README.md", "| " + head + " | {} | {} | {} / {} | {} / {} | {} |", *planned, *of.both(name),
              *of.both(name, M100), of.build(name))
    begun = "expandable, begun at n/1024"
    quote(KINDS + "README.md", "| `expandable`, begun at n/1024 | {} | {} | {} / {} | {} / {} | {} |",
          f"{of.row(begun)['bits_per_key']:.2f}", f"{of.row(begun, M100, 0.001)['bits_per_key']:.2f}", *of.both(begun),
          *of.both(begun, M100), of.build(begun))
    quote(KINDS + "README.md", "| `scalable_bloom`, begun at n/16 | {} | {} | {} / {} | {} / {} | {} |", *planned,
          *of.both(scalable), *of.both(scalable, M100), of.build(scalable))

    # Exact sets and other programs.
    ours, theirs = of.set("bloomset blocked_bloom"), of.set("std::unordered_set")
    ns = of.set_half("bloomset blocked_bloom"), of.set_half("std::unordered_set")
    memory = figure(ours["bytes"] / 1e6), figure(theirs["bytes"] / 1e9)
    quote("README.md", "| {} MB | {} GB (`std::unordered_set`) | {}x |", *memory, f"{theirs['bytes'] / ours['bytes']:.0f}")
    quote("README.md", "| {} ns | {} ns (`std::unordered_set`) | {}x |", *ns, f"{ns[1] / ns[0]:.0f}")
    quote("README.md", "with a capacity given | {} s | {} s (DCSO's `bloom`) | {}x |", *of.dcso("build, capacity given"))
    quote("README.md", "all of them members | {} s | {} s (DCSO's `bloom`) | {}x |", *of.dcso("check, all present and printed"))
    compare = "docs/start/compare.md"
    quote(compare, "| `blocked_bloom` at 1% | {} MB | {} ns |", memory[0], ns[0])
    quote(compare, "| `std::unordered_set` | {} GB | {} ns |", memory[1], ns[1])
    own, other, _ = of.dcso("build, capacity given")
    quote(compare, "builds a filter of 100 million lines in {} s, and Bloomset builds one in {} s", other, own)
    lines = of.one("file", name="bloomset build, capacity unknown")
    quote("docs/start/replace.md", "two cores build one from 100 million lines in [{} s]", lines["ns"] * lines["lines"] / 1e9)

    allow = "docs/use/allow-list.md"
    billion = of.one("billion")
    quote(allow, "insert 10^9 addresses | {} s | | the same, plus 100.7 million queries of non-members | {} s |",
          f"{billion['fill_seconds']:.1f}", f"{billion['seconds']:.1f}")
    quote(allow, "| peak memory | {} GB |", billion["peak"] / 1e9)
    quote(allow, "takes about {} ms, including the start", f"{of.one('startup')['ns'] / 1e6:.1f}")

    # Other filters.
    for head, name in (("`blocked_bloom`", "blocked_bloom"),
                       ("Boost.Bloom `fast_multiblock64<8>`", "Boost.Bloom fast_multiblock64<8>"),
                       ("Boost.Bloom `fast_multiblock32<8>`", "Boost.Bloom fast_multiblock32<8>")):
        quote(compare, "| " + head + " | {} | {} | {} | {} | {} |", KEPT, of.build(name), *of.both(name),
              of.single(name + ", for this CPU"))
    for head, name in (("`ribbon`", "ribbon"), ("`blocked_bloom`, hashing included", "blocked_bloom, of keys"),
                       ("RocksDB 7.8 Bloom, hashing included", "RocksDB Bloom")):
        quote(compare, "| " + head + " | {} | {} | {} | {} | |", KEPT, of.build(name), *of.both(name))
    boost = "Boost.Bloom fast_multiblock"
    quote(compare, "in batches takes {} ns per key, against {} ns for Boost.Bloom's `fast_multiblock32` and {} ns for its "
          "`fast_multiblock64`", of.batch("blocked_bloom", M100), of.batch(boost + "32<8>", M100), of.batch(boost + "64<8>", M100))
    quote(compare, "they take {} ns with 1 M keys, against {} ns for `blocked_bloom`",
          of.single(boost + "32<8>, for this CPU"), of.single("blocked_bloom, for this CPU"))
    quote(compare, "a query takes {} ns if it is compiled for this CPU, against {} ns",
          of.single("fastfilter_cpp binary fuse (3-wise)", M100, 1 / 256), of.single("fuse, 3-wise", M100, 1 / 256))

    # Headers and decisions.
    quote("include/bloomset/fuse.hpp", "{} to {} ns per key and thread",
          *[figure(of.build("fuse, 3-wise", n), 2) for n in (M, M100)])
    own, other = [of.build(name, M100, fpr=1 / 256) for name in ("fuse, 3-wise", "fastfilter_cpp binary fuse (3-wise)")]
    quote(DECISIONS + "kinds/fuse-build.md", "of 100 M keys takes {} of the time of the authors' code", f"{own / other:.2f}")
    extremes = []
    for name in ("blocked_bloom", boost + "64<8>, for this CPU"):
        times = [query(of.row(name), "batch", present) for present in (0, 50, 100)]
        extremes += [min(times), max(times)]
    quote(DECISIONS + "edges/benchmark.md", "Reading its lines takes {} ns of {} to {}, and Boost.Bloom takes {} to {} ns in all",
          *[figure(ns, 2) for ns in (line_limit(of.results, M, 0.01)[0], *extremes)])
    return found


def other_cpu_quotes(of_each):
    """The table of other CPUs: the times of batch and single queries on each, relative to a peer's, and the bits per key,
    which are the same on each; all with 1 M and 100 M keys."""
    found = []
    for name, peer, rate in (
            ("blocked_bloom, for this CPU", "Boost.Bloom fast_multiblock64<8>, for this CPU", 0.01),
            ("fuse, 3-wise", "fastfilter_cpp binary fuse (3-wise)", 1 / 256),
            ("ribbon", "RocksDB Ribbon", 0.01),
            ("cuckoo", "efficient/cuckoofilter, 12 bits", 0.01),
            ("vector_quotient", "VQF, 8 bits", 0.01),
            ("expandable, begun at n/1024", "Taffy block, begun at n/1024", 0.01)):
        times = []
        for of in of_each:
            ours, theirs = ([of.row(one, n, rate) for n in (M, M100)] for one in (name, peer))
            times += [ratio(query(own, how, 50), query(other, how, 50) or query(other, "single", 50))
                      for how in ("batch", "single") for own, other in zip(ours, theirs)]
        sizes = [of_each[0].row(one, n, rate)["bits_per_key"] for one in (name, peer) for n in (M, M100)]
        head = f"| {name}{', 8 bits' if rate == 1 / 256 else ''} | {peer} "
        found.append((BENCHMARKS, head + "| {}x / {}x " * (2 * len(of_each)) + "| {} / {} | {} / {} |",
                      list(map(figure, times + sizes))))
    return found


def put(text, figures, page):
    """The page's text with these figures in place of its own."""
    figure_of = r"(\d[\d,.]*)"
    words = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in text.split("{}")]
    places = list(re.finditer(figure_of.join(words), page))
    if len(places) != 1:
        raise ValueError(f"says this {len(places)} times instead of once: {text}")
    for number, new in reversed(list(enumerate(figures, 1))):
        start, end = places[0].span(number)
        page = page[:start] + (page[start:end] if new is KEPT else new) + page[end:]
    return page


def main():
    parser = argparse.ArgumentParser(description="figures of a benchmark's results that pages quote")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page has other figures")
    parser.add_argument("results")
    options = parser.parse_args()
    pages, faults = {}, []
    others = [Figures(Results(file)) for file in OTHER_CPUS]
    for name, text, figures in quotes(Figures(Results(options.results))) + other_cpu_quotes(others):
        before = pages.setdefault(name, (ROOT / name).read_text())
        try:
            pages[name] = put(text, figures, before)
        except ValueError as fault:
            faults.append(f"{name} {fault}")
            continue
        if options.check and pages[name] != before:
            faults.append(f"{name} has other figures than {options.results}, which has {', '.join('{}' if f is KEPT else f for f in figures)}: {text}")
    if faults:
        sys.exit("\n".join(faults))
    if not options.check:
        for name, text in pages.items():
            (ROOT / name).write_text(text)
        print(f"{len(pages)} pages quote {options.results}")


if __name__ == "__main__":
    main()
