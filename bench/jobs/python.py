#!/usr/bin/env python3
"""Compares the Python package with Python's own set and with Debian's Bloom filters for Python, and its
batches of integers and texts with C++'s. All is measured in turn within each of several runs; shown is the best
run, which other work on the machine has disturbed least.

    cmake --build build --target bloomset_python bloomset_python_batches
    PYTHONPATH=build/integrations/python /usr/bin/python3 bench/jobs/python.py [--keys 1M] [--runs 5]

Peers that are not installed (python3-bitarray, python3-flor), and pyarrow's columns without pyarrow, are left out.
"""

import argparse
import array
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", default="1M")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    n = bloomset.plan(given.keys, FPR, kind="bloom").capacity
    compare(n, given.runs)
    for size in (n // 10, n, 10 * n):
        compare_with_cpp(size, given.runs)


if __name__ == "__main__":
    main()
