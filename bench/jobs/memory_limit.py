#!/usr/bin/env python3
"""The verbs with --memory-limit, beside the same in memory and `sort -u`: time, memory, and whether the output is
the same. Prints the tables of bench/results/trials/larger-than-memory.md.

    cmake --build build --target bloomset_program
    bench/jobs/memory_limit.py [--keys 100M] [--runs 3] [--folder /tmp] [--only TEXT]

--only measures the rows whose title has TEXT.

The memory of a run is its highest resident set, which includes pages of mapped files. Nothing limits it from outside.
"""

import argparse
import filecmp
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

PROGRAM = pathlib.Path(os.environ.get("BLOOMSET", pathlib.Path(__file__).resolve().parents[2] / "build" / "bloomset"))


def limit(bytes):
    """The least that the program accepts is 16 MiB."""
    return f"{max(bytes, 2**24):.0f}"


def run(words, output):
    """Seconds and the highest resident memory."""
    start = time.perf_counter()
    with open(output, "wb") as file:
        process = subprocess.Popen([str(w) for w in words], stdout=file, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "LC_ALL": "C"})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def lines_of(file):
    return int(subprocess.check_output(["wc", "-l", file]).split()[0])


def compare(title, ways, runs, folder, only):
    """Ways are (name, arguments); the first one is the measure of the others."""
    if only not in title:
        return
    times = [[] for _ in ways]
    peaks = [0] * len(ways)
    same = ["yes"] * len(ways)
    for _ in range(runs):
        for i, (_, words) in enumerate(ways):
            output = folder / f"output{i}"
            seconds, peak = run(words, output)
            times[i].append(seconds)
            peaks[i] = max(peaks[i], peak)
            if not filecmp.cmp(folder / "output0", output, shallow=False):
                same[i] = f"{lines_of(output) - lines_of(folder / 'output0'):+} lines"
    first = statistics.median(times[0])
    for i, (name, _) in enumerate(ways):
        seconds = statistics.median(times[i])
        print(f"| {title} | {name} | {seconds:.1f} s | {seconds / first:.2f}x | {peaks[i] / 1e6:.0f} MB "
              f"| {same[i]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--keys", type=lambda text: int(float(text.replace("k", "e3").replace("M", "e6"))), default=10**8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", default="/tmp")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    n = given.keys
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        folder = pathlib.Path(temporary)
        for name, last in (("keys", n), ("queries", n // 10)):
            with open(folder / name, "wb") as file:
                subprocess.run(["seq", str(last)], stdout=file, check=True)
        lines, distinct = n * 3 // 10, n * 21 // 100
        while math.gcd(distinct, 7919) != 1:
            distinct += 1
        with open(folder / "repeated", "wb") as file:  # not in their order, which would spare sort its work
            subprocess.run(["awk", f"BEGIN {{ for (i = 0; i < {lines}; ++i) print i * 7919 % {distinct} }}"],
                           stdout=file, check=True)
        print(f"{n:,} lines, {os.cpu_count()} cores\n\n| | way | time | | memory | same output |\n|---|---|---:|---:|---:|---|")
        build = [PROGRAM, "build", "-q", "--fpr", "1%", "-o", "-"]
        for kind, share in (("blocked_bloom", 2.3), ("fuse", 3), ("ribbon", 3)):
            words = [*build, "--kind", kind, folder / "keys"]
            compare(f"build {kind}", [("in memory", [*words, "--memory-limit", limit(n * 100)]),
                                      ("with a limit", [*words, "--memory-limit", limit(n * share)])], given.runs, folder, given.only)
        words = [PROGRAM, "build", "-q", "--memory", f"{n * 3}", "-o", "-", folder / "keys"]
        compare("build blocked_bloom of 3 bytes per key",
                [("in memory", [*words, "--memory-limit", limit(n * 100)]),
                 ("with a limit", [*words, "--memory-limit", limit(n * 0.9)])], given.runs, folder, given.only)
        for kind, size in (("bloom", 1.2), ("counting_bloom", 4.8), ("fuse", 0.98), ("ribbon", 0.84)):
            words = [*build, "--kind", kind, folder / "keys"]
            compare(f"build {kind}, a quarter of its {n * size / 1e6:.0f} MB",
                    [("in memory", [*words, "--memory-limit", limit(n * 100)]),
                     ("with a limit", [*words, "--memory-limit", limit(n * size / 4)])], given.runs, folder, given.only)
        for kind, options in (("blocked_bloom", ["--memory", f"{n * 4}"]), ("fuse", ["--fpr", "1%"])):
            size = folder / kind
            run([PROGRAM, "build", "-q", "--force", "--kind", kind, *options, "-o", size, folder / "keys"], "/dev/null")
            words = [PROGRAM, "check", size, folder / "queries"]
            compare(f"check {kind} of {size.stat().st_size / 1e6:.0f} MB, {n // 10:,} lines",
                    [("in memory", words), ("with a limit", [*words, "--memory-limit", limit(size.stat().st_size / 4)])],
                    given.runs, folder, given.only)
        words = [PROGRAM, "dedup", folder / "repeated"]
        compare(f"dedup {lines:,} lines, of which {distinct:,} differ",
                [("in memory", words), ("with a limit", [*words, "--memory-limit", limit(n * 0.25)]),
                 ("sort -u -S", ["sort", "-u", "-S", limit(n * 0.25) + "b", folder / "repeated"])], given.runs, folder, given.only)


if __name__ == "__main__":
    main()
