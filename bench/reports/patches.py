#!/usr/bin/env python3
"""Sizes of patches beside those of zstd, xdelta3 and bsdiff, as the table of bench/results/patches.md.

    bench/reports/patches.py [KEYS] > bench/results/patches.md        default: 1000000 keys

The other programs run with the options that made their smallest patches here. Programs that are not installed are left
out (scripts/install-packages.sh peers). Every patch is applied, and its result compared.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOOMSET = os.environ.get("BLOOMSET", str(ROOT / "build" / "bloomset"))
KINDS = ["blocked_bloom", "bloom", "counting_bloom", "cuckoo", "vector_quotient", "expandable", "scalable_bloom", "ribbon", "fuse"]
STATIC = {"ribbon", "fuse"}
ERASES = {"counting_bloom", "cuckoo", "vector_quotient", "expandable"}
SHARES = [("0.01%", 10000), ("0.1%", 1000), ("1%", 100), ("10%", 10)]
OTHERS = {"zstd": ["zstd", "-q", "-f", "-19", "--long=27", "--patch-from=old", "new", "-o", "other"],
          "xdelta3": ["xdelta3", "-e", "-f", "-9", "-S", "lzma", "-s", "old", "new", "other"],
          "bsdiff": ["bsdiff", "old", "new", "other"]}


def lines(first, count):
    return b"".join(b"user%d@example.com\n" % i for i in range(first, first + count))


def run(folder, *args, input=b""):
    done = subprocess.run(args, cwd=folder, input=input, capture_output=True)
    assert done.returncode == 0, (args, done.stderr.decode())
    return done.stderr.decode()


def bytes_of(text):
    number, unit = text.split()
    return float(number.replace(",", "")) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]


def row(folder, kind, name, changes):
    begin = time.monotonic()
    said = run(folder, BLOOMSET, "diff", "--force", "old", "new", "-o", "p")
    took = time.monotonic() - begin
    run(folder, BLOOMSET, "patch", "-q", "--force", "old", "p", "-o", "again")
    new = (folder / "new").read_bytes()
    assert (folder / "again").read_bytes() == new
    size = (folder / "p").stat().st_size
    entropy = bytes_of(said.split("entropy of ")[1].strip()) if "entropy of " in said else None
    others = []
    for program, command in OTHERS.items():
        if not shutil.which(program):
            others.append("")
            continue
        run(folder, *command)
        others.append(f"{(folder / 'other').stat().st_size:,}")
    ratio = f"{size / entropy:.2f}" if entropy else "whole"
    print(f"| {kind} | {name} | {len(new):,} | {size:,} | {8 * size / changes:.1f} | {ratio} | {' | '.join(others)} | {took:.2f} |",
          flush=True)


def main():
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print("# Sizes of patches\n")
    print(f"`bench/reports/patches.py {keys}`: filters of {keys:,} keys at 1%, planned for 1.1 times as many. Sizes are in bytes, and do not")
    print("depend on the machine. *Ratio* is the patch's size over the entropy of the changed bits, if they are any bits of the payload")
    print("(`bit_changes::entropy()`); neighbouring changes need less. The last column is the time of `bloomset diff` in seconds.\n")
    print("| kind | changes | new file | patch | bits per changed key | ratio | " + " | ".join(OTHERS) + " | s |")
    print("|---|---|---:|---:|---:|---:|" + "---:|" * len(OTHERS) + "---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in KINDS:
            plan = ["--kind", kind, "--fpr", "1%", "--force", "-q"]
            if kind not in STATIC:
                plan += ["--capacity", str(keys * 11 // 10)]
            run(folder, BLOOMSET, "build", "-o", "old", *plan, input=lines(0, keys))
            for share, part in SHARES:
                count = keys // part
                shutil.copy(folder / "old", folder / "new")
                if kind in STATIC:
                    run(folder, BLOOMSET, "build", "-o", "new", *plan, input=lines(0, keys + count))
                else:
                    run(folder, BLOOMSET, "add", "-q", "new", input=lines(keys, count))
                row(folder, kind, f"+{share}", count)
                if kind in ERASES and part == 1000:
                    shutil.copy(folder / "old", folder / "new")
                    run(folder, BLOOMSET, "remove", "-q", "new", input=lines(0, count))
                    row(folder, kind, f"-{share}", count)
                if kind in STATIC:
                    break
    print("\nKinds that are built once change nearly as a whole. A patch that would not be smaller has the new file itself.")


if __name__ == "__main__":
    main()
