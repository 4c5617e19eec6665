#!/usr/bin/env python3
"""Compares the kernels that this machine's CPU can run, and writes their table in docs/how-it-works/benchmarks.md.

    bench/kernels.py PROGRAM [--sizes 1M,30M] [--runs 3] [--write]     PROGRAM is bloomset_bench

The kernels take turns. A time is the least of the runs.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench" / "reports"))
from drawing import count, figure, table, times
from records import Results, built, query, ratio

DOCUMENT = ROOT / "docs" / "how-it-works" / "benchmarks.md"
BEGIN, END = "<!-- written by bench/kernels.py -->\n", "<!-- end -->\n"
KERNELS = ("avx512", "avx2", "neon", "scalar")


def measure(program, kernel, sizes):
    """The results, or None if the CPU lacks the kernel."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        for part in (["machine"], ["filters", "--sizes", sizes, "--rates", "1%", "--threads", "1", "--only",
                                   ",".join(kinds()), "--cell-seconds", "0.2", "--build-seconds", "1"]):
            subprocess.run([program, "-o", file.name, "--runs", "1", *part], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=os.environ | {"BLOOMSET_KERNEL": kernel})
        results = Results(file.name)
    return results if results.one("machine")["kernels"] == kernel else None


def kinds():
    # The kernels of ribbon are those of retrieval, which is not a kind.
    names = (folder.parent.name for folder in ROOT.glob("src/kinds/*/kernels"))
    return sorted("ribbon" if name == "retrieval" else name for name in names)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--sizes", default="1M,30M")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    least = collections.defaultdict(lambda: float("inf"))
    usable = list(KERNELS)
    for _ in range(given.runs):
        for kernel in list(usable):
            results = measure(given.program, kernel, given.sizes)
            if results is None:
                usable.remove(kernel)
                continue
            machine = results.one("machine")
            for row in results.all("filter", group="ours", takes="hashes"):
                if row["name"].endswith("for this CPU"):
                    continue  # inline code of the program, without kernels
                for what, ns in (("build", built(row)), ("batches", query(row, "batch", 50)),
                                 ("single", query(row, "single", 50))):
                    if ns is not None:
                        at = row["n"], row["name"], what, kernel
                        least[at] = min(least[at], ns)
    best, others = usable[0], usable[1:]
    text = ""
    for n in sorted({at[0] for at in least}):
        body = []
        for name in dict.fromkeys(at[1] for at in least if at[0] == n):
            cells = [name]
            for what in ("build", "batches", "single"):
                base = least.get((n, name, what, best))
                cells += [figure(base), *(times(ratio(least.get((n, name, what, each)), base)) for each in others)]
            body.append(cells)
        head = [f"{count(n)} keys at 1%"]
        for what in ("build", "batches", "single"):
            head += [f"{what}, {best}: ns/key", *others]
        text += f"\n{table(head, body)}\n"
    text = (f"{machine['cpu']}; a core has {machine['l2'] >> 10} KiB of L2, all share {machine['l3'] >> 20} MiB of L3. "
            f"One thread; {given.runs} runs. Half of the queried keys are present.\n{text}")
    print(text)
    if given.write:
        document = DOCUMENT.read_text()
        DOCUMENT.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + text + END, document, flags=re.DOTALL))


if __name__ == "__main__":
    main()
