#!/usr/bin/env python3
"""Compares the Python package with Python's own set and with Debian's Bloom filters for Python, its batches of
integers and texts with C++'s, and its single calls and its import with those of rbloom. All is measured in turn within
each of several runs; shown is the best run, which other work on the machine has disturbed least.

    cmake --build build --target bloomset_python bloomset_python_batches
    PYTHONPATH=build/integrations/python /usr/bin/python3 bench/jobs/python.py [--keys 1M] [--runs 5]

Peers that are not installed (python3-bitarray, python3-flor, rbloom), and pyarrow's columns without pyarrow, are left
out.
"""

import argparse
import array
import itertools
import os
import pathlib
import random
import subprocess
import sys
import time

import bloomset

FPR = 0.01
PROGRAM = pathlib.Path(bloomset.__file__).parents[3] / "bench" / "python_batches"


class Set:
    """Python's own, with its keys: where they are kept anyway, a third of the memory is the set's."""

    name = "set"

    def __init__(self, keys):
        self.keys = keys

    def fill(self):
        self.set = set()
        for key in self.keys:
            self.set.add(key)

    def ask(self, keys):
        return sum(key in self.set for key in keys)

    def bytes(self):
        return sys.getsizeof(self.set) + sum(map(sys.getsizeof, self.keys))


class OneByOne(Set):
    name = "bloomset, one by one"

    def fill(self):
        self.set = bloomset.BlockedBloom(len(self.keys), FPR)
        for key in self.keys:
            self.set.add(key)

    def bytes(self):
        return self.set.nbytes


class Lists(OneByOne):
    name = "bloomset, lists"

    def fill(self):
        self.set = bloomset.BlockedBloom(len(self.keys), FPR)
        self.set.update(self.keys)

    def ask(self, keys):
        return sum(self.set.contains(keys).tolist())


class Arrow(Lists):
    """The same bytes one after the other, as a table's column has them."""

    name = "bloomset, Arrow's layout"

    def __init__(self, keys):
        super().__init__(keys)
        self.columns = {}

    def column(self, keys):
        if id(keys) not in self.columns:
            ends = array.array("q", [0])
            for key in keys:
                ends.append(ends[-1] + len(key))
            self.columns[id(keys)] = ("".join(keys).encode(), ends)
        return self.columns[id(keys)]

    def fill(self):
        self.set = bloomset.BlockedBloom(len(self.keys), FPR)
        data, ends = self.column(self.keys)
        self.set.update(data, offsets=ends)

    def ask(self, keys):
        data, ends = self.column(keys)
        return self.set.contains(data, offsets=ends).tobytes().count(1)


class Flor(Set):
    name = "python3-flor"

    def fill(self):
        from flor import BloomFilter

        self.set = BloomFilter(n=len(self.keys) + 1, p=FPR)
        for key in self.keys:
            self.set.add(key.encode())

    def ask(self, keys):
        return sum(key.encode() in self.set for key in keys)

    def bytes(self):
        return self.set.M


class Bitarray(Set):
    """The ten lines that one writes: Python's hash, seven places in a bitarray by double hashing."""

    name = "ten lines on python3-bitarray"

    def fill(self):
        from bitarray import bitarray

        self.m = round(9.59 * len(self.keys))
        self.set = bitarray(self.m)
        self.set.setall(0)
        for key in self.keys:
            for place in self.places(key):
                self.set[place] = 1

    def places(self, key):
        h = hash(key)
        low, high = h & 0xFFFFFFFF, (h >> 32) | 1
        return [(low + i * high) % self.m for i in range(7)]

    def ask(self, keys):
        return sum(all(self.set[place] for place in self.places(key)) for key in keys)

    def bytes(self):
        return self.m // 8


def available(subject):
    try:
        subject(["a"] * 10).fill()
    except ImportError as missing:
        print(f"{subject.name}: left out, {missing}", file=sys.stderr)
        return False
    return True


def seconds(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def workload(n):
    """Members, and as many keys to ask for, half of them present, in another order."""
    members = [f"user{i}@example.com" for i in range(n)]
    asked = [f"user{i}@example.com" for i in range(n // 2, n + n // 2)]
    random.Random(1).shuffle(asked)
    return members, asked


def compare(n, runs):
    bloomset.Bloom(1).contains(["a"])  # which imports NumPy, where it is installed
    # What is written in Python takes microseconds a key, of whatever number.
    all_keys, fewer = workload(n), workload(max(n // 10, 10))
    subjects = [(cls, all_keys) for cls in (Set, OneByOne, Lists, Arrow)]
    subjects += [(cls, fewer) for cls in (Bitarray, Flor) if available(cls)]
    times = {cls: ([], []) for cls, _ in subjects}
    sizes = {}
    for _ in range(runs):
        for cls, (members, asked) in subjects:
            subject = cls(members)
            if cls is Arrow:  # the columns are there already
                subject.column(members), subject.column(asked)
            filling, _ = seconds(subject.fill)
            asking, found = seconds(lambda: subject.ask(asked))
            there = len(members) // 2
            if found < there or found > there + 0.02 * len(members) + 20:
                raise SystemExit(f"{cls.name}: {found} of {len(asked)} found, {there} are members")
            times[cls][0].append(filling * 1e9 / len(members))
            times[cls][1].append(asking * 1e9 / len(asked))
            sizes[cls] = subject.bytes() / len(members)
    print(f"{n:,} keys as user7@example.com, half of those asked present; nanoseconds a key\n")
    print(f"| {'':<29} | bytes/key |    add |  check |")
    print("|---|---|---|---|")
    for cls, (filling, asking) in times.items():
        print(f"| {cls.name:<29} | {sizes[cls]:>9.2f} | {min(filling):>6.0f} "
              f"| {min(asking):>6.0f} |")


def columns(n):
    """The batches by name: the keys, and as many to ask for, half of them present."""
    try:
        import numpy
    except ImportError:
        return {}
    found = {"integers, NumPy": (numpy.arange(n), numpy.arange(n // 2, n // 2 + n))}
    try:
        import pyarrow
    except ImportError as missing:
        print(f"columns of Arrow: left out, {missing}", file=sys.stderr)
        return found
    found["integers, Arrow"] = tuple(pyarrow.array(keys) for keys in found["integers, NumPy"])
    found["texts, Arrow"] = tuple(pyarrow.array([f"user{i}@example.com" for i in range(first, first + n)])
                                  for first in (0, n // 2))
    return found


def compare_with_cpp(n, runs):
    batches = columns(n)
    if not batches or not PROGRAM.exists():
        print(f"batches beside C++: left out, NumPy or {PROGRAM} is missing", file=sys.stderr)
        return
    python = {name: ([], []) for name in batches}
    cpp = ([], [], [], [])
    for _ in range(runs):
        for name, (keys, asked) in batches.items():
            f = bloomset.BlockedBloom(n, FPR)
            python[name][0].append(seconds(lambda: f.update(keys))[0] * 1e9 / n)
            f.contains(asked)
            python[name][1].append(seconds(lambda: f.contains(asked))[0] * 1e9 / n)
        for to, figure in zip(cpp, subprocess.check_output([PROGRAM, str(n)], text=True).split()):
            to.append(float(figure))
    print(f"\nBatches of {n:,} keys: nanoseconds a key, and Python's speed against C++'s\n")
    for name, ours in python.items():
        theirs = cpp[:2] if name.startswith("integers") else cpp[2:]
        for verb, here, there in zip(("add", "check"), ours, theirs):
            a, b = min(here), min(there)
            print(f"  {name:<16} {verb:<6} Python {a:6.2f}   C++ {b:6.2f}   {b / a:6.0%}")


def call_add(subject, keys):
    for key in keys:
        subject.add(key)


def call_in(subject, keys):
    for key in keys:
        key in subject


def call_discard(subject, keys):
    for key in keys:
        subject.discard(key)


def call_count(subject, keys):
    for key in keys:
        subject.count(key)


def no_call(subject, keys):
    for key in keys:
        pass


def compare_calls(n, runs):
    """The cost of a call: few keys, which stay in the caches. The loop's own time is in all figures."""
    makers = {"set": set, "BlockedBloom": lambda: bloomset.BlockedBloom(2 * n, FPR),
              "VectorQuotient": lambda: bloomset.VectorQuotient(2 * n, FPR)}
    try:
        import rbloom

        makers["rbloom"] = lambda: rbloom.Bloom(2 * n, FPR)
    except ImportError as missing:
        print(f"rbloom: left out, {missing}", file=sys.stderr)
    keys = {"str": ([f"user{i:05}@example.com" for i in range(n)], [f"user{i:05}@example.org" for i in range(n)]),
            "int": (list(range(n)), list(range(n, 2 * n)))}
    calls = {"add": (call_add, 0), "add again": (call_add, 0), "in, members": (call_in, 0),
             "in, others": (call_in, 1), "count": (call_count, 0), "discard": (call_discard, 0)}
    best = {}
    for _ in range(runs):
        for (name, make), kind in itertools.product(makers.items(), keys):
            subject = make()
            for call, (work, which) in calls.items():
                if not hasattr(subject, {"count": "count", "discard": "discard"}.get(call, "add")):
                    continue
                took = seconds(lambda: work(subject, keys[kind][which]))[0] * 1e9 / n
                best[name, kind, call] = min(took, best.get((name, kind, call), took))
        for kind in keys:
            took = seconds(lambda: no_call(None, keys[kind][0]))[0] * 1e9 / n
            best["the loop alone", kind, "add"] = min(took, best.get(("the loop alone", kind, "add"), took))
    print(f"\nSingle calls, {n:,} keys of 21 characters or integers: nanoseconds a call, of which the loop has "
          f"{min(best['the loop alone', kind, 'add'] for kind in keys):.0f}\n")
    print(f"| {'':<14} | keys | " + " | ".join(f"{call:>11}" for call in calls) + " |")
    print("|---" * (2 + len(calls)) + "|")
    for name, kind in itertools.product(makers, keys):
        figures = (best.get((name, kind, call)) for call in calls)
        print(f"| {name:<14} | {kind:<4} | "
              + " | ".join(f"{'' if figure is None else format(figure, '.0f'):>11}" for figure in figures) + " |")


def run_python(program):
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    os.waitpid(child, 0)


def compare_imports(runs):
    times = {program: [] for program in ("pass", "import bloomset", "import rbloom", "import numpy")}
    for program in list(times):  # also writes the compiled files of modules
        if subprocess.run([sys.executable, "-c", program], capture_output=True).returncode != 0:
            del times[program]
    for _ in range(4 * runs):
        for program, took in times.items():
            took.append(seconds(lambda: run_python(program))[0] * 1e3)
    print("\nFrom the start to the end of Python: milliseconds, least and median\n")
    for program, took in times.items():
        print(f"  {program:<16} {min(took):6.1f} {sorted(took)[len(took) // 2]:6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", default="1M")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    n = bloomset.plan(given.keys, FPR, kind="bloom").capacity
    compare(n, given.runs)
    for size in (n // 10, n, 10 * n):
        compare_with_cpp(size, given.runs)
    compare_calls(min(n, 10_000), given.runs)
    compare_imports(given.runs)


if __name__ == "__main__":
    main()
