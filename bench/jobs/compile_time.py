#!/usr/bin/env python3
"""The time that a C++ compiler takes for a program which only includes one public header.

Prints, for each header, the least user time of ROUNDS compilations and its ratio to that of
<unordered_set> in the same run. Compile nothing else meanwhile.

    bench/jobs/compile_time.py [--compiler g++] [--rounds 9] [HEADER...]
"""

import argparse
import os
import pathlib
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
STANDARD = ["unordered_set", "string", "vector", "span"]


def user_time(compiler, source):
    child = os.posix_spawnp(compiler, [compiler, "-std=c++20", "-O2", f"-I{INCLUDE}", "-c", source,
                                       "-o", os.devnull], os.environ)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"{compiler} cannot compile {source}")
    return usage.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("headers", nargs="*", help="such as bloomset/bloom.hpp; default: all")
    options = parser.parse_args()
    ours = options.headers or sorted(f"bloomset/{path.name}" for path in (INCLUDE / "bloomset").glob("*.hpp"))
    rows = {name: [name] for name in [*STANDARD, *ours]}
    rows["string, span and vector"] = ["string", "span", "vector"]
    times = {name: [] for name in rows}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, headers in rows.items():
                source = os.path.join(folder, "includes.cpp")
                pathlib.Path(source).write_text("".join(f"#include <{header}>\n" for header in headers))
                times[name].append(user_time(options.compiler, source))
    unit = min(times["unordered_set"])
    for name, all_times in sorted(times.items(), key=lambda row: min(row[1])):
        print(f"{min(all_times):6.2f} s {min(all_times) / unit:5.1f} x  {name}")


if __name__ == "__main__":
    main()
