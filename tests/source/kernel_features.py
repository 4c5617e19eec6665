#!/usr/bin/env python3
"""Checks that a kernel set is chosen only on CPUs that have every instruction it is compiled with.

src/kinds/KIND/kernels/NAME.cpp names its features in BLOOMSET_TARGET_BEGIN. src/cpu/dispatch.cpp
queries the CPU for them: first those of the AVX2 set, then those that the AVX-512 set needs in
addition. Prints each feature that is used but not queried, and exits 1; exits 0 if there is none.
"""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"


def features_used(source):
    """The features of all target regions of a file, as a set."""
    regions = re.findall(r'BLOOMSET_TARGET_BEGIN\(\s*((?:"[^"]*"\s*)+)\)', source)
    return {name for region in regions for name in "".join(re.findall(r'"([^"]*)"', region)).split(",")}


def features_asked_for(source):
    """What dispatch.cpp asks for before it takes the AVX2 set, and before it takes the AVX-512 set."""
    start = source.index("__builtin_cpu_init()")
    avx2 = source.index("instruction_set::avx2;", start)
    avx512 = source.index("instruction_set::avx512;", avx2)
    asked = lambda part: set(re.findall(r'(?:__builtin_cpu_supports\("|\bhas_)(\w+)', part))
    return asked(source[start:avx2]), asked(source[start:avx512])


def main():
    of_avx2, of_avx512 = features_asked_for((SOURCES / "cpu" / "dispatch.cpp").read_text())
    missing = []
    regions = 0
    for path in sorted(SOURCES.glob("kinds/*/kernels/*.cpp")):
        used = features_used(path.read_text())
        regions += bool(used)
        asked = of_avx512 if "avx512" in path.name else of_avx2
        missing += [f"{path.relative_to(SOURCES)} uses {name}, which dispatch.cpp does not ask for" for name in sorted(used - asked)]
    if regions < 5:
        missing.append(f"only {regions} files with a target region were found; the pattern here is out of date")
    print("\n".join(missing), end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
